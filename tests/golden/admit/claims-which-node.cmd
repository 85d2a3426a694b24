# status 2
numalign admit docs/examples/dra/gpu.yaml -m hgx-h100 --slices docs/examples/dra/cluster.yaml
