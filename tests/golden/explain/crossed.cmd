# status 1
numalign explain tests/golden/explain/two-cpus-and-gpu.yaml --beside tests/golden/explain/crossed-beside.yaml --machine figure-1 --policy single-numa-node
