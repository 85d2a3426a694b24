"""The same pods under other settings, machines and kubelets."""
