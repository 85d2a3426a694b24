# status 1
numalign admit pods/wide.yaml --machine xeon-8s --policy single-numa-node
