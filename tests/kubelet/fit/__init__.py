"""Tests of `numalign/kubelet/fit`."""
