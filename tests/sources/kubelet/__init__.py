"""Tests of `numalign/sources/kubelet`."""
