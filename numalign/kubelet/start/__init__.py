"""Coming up: reservations, allocatable and every check the kubelet makes before it accepts a configuration."""
