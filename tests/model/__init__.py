"""Tests of numalign.model."""
