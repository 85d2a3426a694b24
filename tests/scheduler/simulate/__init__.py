"""Tests of `numalign/scheduler/simulate`."""
