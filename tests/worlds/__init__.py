"""Tests of `numalign/worlds`."""
