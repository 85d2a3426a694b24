"""numalign predicts how a Kubernetes node aligns a pod's CPUs, memory and devices on its NUMA nodes."""

__version__ = "0.1.0"
