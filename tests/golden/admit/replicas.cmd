# status 1
numalign admit pods/deployment.yaml --replicas 11 --machine dgx-1 --policy restricted
