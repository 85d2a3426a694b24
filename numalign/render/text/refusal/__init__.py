"""A refusal in words: what is in the way, with amounts and nodes. No word of the kubelet's machinery is needed."""
