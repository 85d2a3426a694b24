numalign dra check docs/examples/dra/gpu-nic.yaml docs/examples/dra/cpu-nic.yaml --slices docs/examples/dra/cluster.yaml -o wide
