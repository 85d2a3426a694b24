"""What scripts read: JSON as promised in docs/json.md."""
