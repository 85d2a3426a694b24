# status 1
numalign admit pods/two-containers-pod-scope.yaml --replicas 3 --machine figure-1 --policy single-numa-node --scope pod
