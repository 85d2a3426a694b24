"""Tests of numalign.kubelet."""
