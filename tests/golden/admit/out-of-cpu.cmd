# status 1
numalign admit pods/burstable.yaml --replicas 5 --machine figure-1
