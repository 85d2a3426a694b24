"""Tests of what a release hands out, as its users have it: `.ci/release` builds it and runs them."""
