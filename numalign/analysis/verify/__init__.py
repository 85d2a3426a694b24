"""The kubelet's plan against what processes may do and do (docs/rules/verify.md): pure comparison, no file is read."""
