"""Tests of `numalign/kubelet/proposals`."""
