"""The Memory Manager (docs/rules/memory-manager.md): `provider` is what the Topology Manager sees of it."""
