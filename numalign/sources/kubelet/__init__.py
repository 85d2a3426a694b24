"""KubeletConfiguration files and the kubelet's flags."""
