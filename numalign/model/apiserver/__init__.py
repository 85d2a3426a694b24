"""What the API server does to a pod before a node sees it: defaulting and validation."""
