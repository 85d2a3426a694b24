"""Tests of `numalign/model/apiserver`."""
