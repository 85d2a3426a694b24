# status 1
numalign explain tests/golden/explain/much-memory.yaml --machine figure-1 --policy single-numa-node --memory-manager-policy Static --kube-reserved memory=1Gi --reserved-memory '0:memory=1Gi'
