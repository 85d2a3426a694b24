"""What each release of the kubelet changed; each change is a typed function on the `Kubelet` before it."""
