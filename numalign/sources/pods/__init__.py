"""Manifests, and the objects in them that carry a pod."""
