numalign admit pods/limits-only.yaml pods/two-containers-pod-scope.yaml --machine figure-1 --policy single-numa-node --scope container
