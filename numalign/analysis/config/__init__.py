"""A kubelet's configuration against a machine: would it start, and what would."""
