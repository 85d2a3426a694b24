"""A node in use, judged: what is odd about its files, and whether what runs on it is what was planned."""
