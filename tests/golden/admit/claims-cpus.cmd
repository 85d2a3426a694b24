numalign admit docs/examples/dra/cpu-nic.yaml -m hgx-h100 --slices docs/examples/dra/cluster.yaml --node-name hgx-2 --cpu-manager-policy none
