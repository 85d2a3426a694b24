# status 1
# columns 80
numalign schedule docs/examples/cluster/fractional.yaml --cluster docs/examples/cluster/cluster.yaml
