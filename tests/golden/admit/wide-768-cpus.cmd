# status 1
numalign admit pods/deployment.yaml pods/wide.yaml --machine sockets=2,numaNodesPerSocket=4,coresPerNumaNode=48,threadsPerCore=2,coresPerUncoreCache=16,memoryPerNumaNode=64Gi --policy restricted -o wide
