"""Drawings of machines as SVG."""
