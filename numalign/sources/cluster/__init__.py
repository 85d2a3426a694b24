"""Clusters as other tools print them: objects, dumps, files."""
