numalign compare --hints -o wide --kubelet-version 1.23
