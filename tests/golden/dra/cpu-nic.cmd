numalign dra check docs/examples/dra/cpu-nic.yaml --slices docs/examples/dra/cluster.yaml
