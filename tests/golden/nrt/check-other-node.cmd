# status 1
numalign nrt check tests/sources/cluster/objects/scheduler-plugins-readme-numa-node-names.yaml --machine figure-1 --policy single-numa-node
