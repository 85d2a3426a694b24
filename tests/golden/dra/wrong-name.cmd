# status 1
numalign dra check docs/examples/dra/wrong-name.yaml --slices docs/examples/dra/cluster.yaml
