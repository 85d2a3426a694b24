"""The version of numalign, in a module of its own: nothing below the library imports the library's name to know it."""

__version__ = "0.1.0"
