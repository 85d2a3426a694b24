numalign explain pods/history/two-containers.yaml --machine figure-1 --policy single-numa-node --details
