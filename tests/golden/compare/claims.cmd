numalign compare docs/examples/dra/gpu-nic.yaml -m hgx-h100 --slices docs/examples/dra/cluster.yaml --node-name hgx-1
