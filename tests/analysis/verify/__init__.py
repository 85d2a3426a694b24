"""What runs against what was planned."""
