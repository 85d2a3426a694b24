# status 1
numalign schedule docs/examples/cluster/forwarder.yaml --cluster tests/sources/cluster/objects/koordinator-proposal-annotations.yaml
