# status 1
numalign schedule docs/examples/dra/gpu-nic.yaml --cluster docs/examples/dra/fleet.yaml --slices docs/examples/dra/cluster.yaml --pods 5
