numalign dra check docs/examples/dra/gpu.yaml --slices docs/examples/dra/cluster.yaml
