numalign schedule docs/examples/cluster/forwarder.yaml --cluster tests/sources/cluster/objects/openshift-docs-real-two-workers-list.yaml
