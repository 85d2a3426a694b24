"""The Topology Manager: hints, merging, policies and scopes (docs/rules/topology-manager.md)."""
