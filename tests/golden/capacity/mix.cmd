numalign capacity docs/examples/cluster/forwarder.yaml docs/examples/cluster/fractional.yaml --mix forwarder=1,fractional=1 --cluster docs/examples/cluster/cluster.yaml
