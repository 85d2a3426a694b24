"""The CPU Manager (docs/rules/cpu-manager.md)."""
