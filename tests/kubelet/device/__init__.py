"""Tests of `numalign/kubelet/device`."""
