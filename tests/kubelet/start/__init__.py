"""Tests of `numalign/kubelet/start`."""
