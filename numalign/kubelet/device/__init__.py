"""The Device Manager (docs/rules/device-manager.md)."""
