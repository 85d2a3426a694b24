# status 1
numalign schedule docs/examples/cluster/forwarder.yaml --cluster docs/examples/cluster/cluster.yaml --scheduler unaware
