"""A node as it is: its kubelet's files, what its API answers, its processes, and states of our own."""
