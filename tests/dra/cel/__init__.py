"""The language of selectors."""
