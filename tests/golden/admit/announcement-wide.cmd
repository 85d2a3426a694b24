# status 1
numalign admit pods/announcement.yaml --machine figure-1 --policy single-numa-node -o wide
