numalign kwok export --cluster docs/examples/cluster.yaml
