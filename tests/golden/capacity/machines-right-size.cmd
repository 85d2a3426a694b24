numalign capacity docs/examples/cluster/forwarder.yaml --cluster machines --right-size 10
