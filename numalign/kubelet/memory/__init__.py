"""The Memory Manager (docs/rules/memory-manager.md)."""
