"""Tests of `numalign/tasks`."""
