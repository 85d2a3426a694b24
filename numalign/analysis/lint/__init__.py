"""What in a manifest keeps a pod from being aligned."""
