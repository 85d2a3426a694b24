"""YAML and JSON with bounds and line numbers, and typed getters over what they hold."""
