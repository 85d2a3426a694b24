"""Claims, devices and selectors."""
