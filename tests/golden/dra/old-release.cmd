# status 2
numalign dra check docs/examples/dra/gpu.yaml docs/examples/dra/gpu-nic.yaml --slices docs/examples/dra/cluster.yaml --kubelet-version 1.30
