"""The built site in a real browser: `make site-check` runs these; see test_site.py."""
