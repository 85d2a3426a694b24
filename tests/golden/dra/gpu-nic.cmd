numalign dra check docs/examples/dra/gpu-nic.yaml --slices docs/examples/dra/cluster.yaml
