numalign admit pods/history/two-containers.yaml --machine figure-1 --policy single-numa-node --kubelet-version 1.16
