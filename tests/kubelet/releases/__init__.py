"""Tests of `numalign/kubelet/releases`."""
