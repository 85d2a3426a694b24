# status 1
numalign admit pods/history/choosy.yaml --machine figure-1 --policy single-numa-node
