"""Folders and archives that hold a captured machine; nothing leaves their root."""
