"""Tests of `numalign/sources/pods`."""
