"""The version of numalign and its address, in a module that imports nothing: all that names them comes from here."""

__version__ = "0.1.0"
ADDRESS = ""
"""Where numalign is published, as `https://…` without a slash at its end; empty: nowhere yet.

The package's links, the schemas that files for people name, what a release writes for krew and Homebrew, and the
addresses of the documentation (`/docs`, its sources `/source`) follow.
"""
