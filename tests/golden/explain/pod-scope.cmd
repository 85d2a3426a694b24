# status 1
numalign explain tests/golden/explain/two-containers.yaml --machine figure-1 --policy single-numa-node --scope pod
