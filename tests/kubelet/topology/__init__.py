"""Tests of `numalign/kubelet/topology`."""
