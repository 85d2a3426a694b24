"""WHAT THE KUBELET DOES: pure functions from values to values, one folder per manager."""
