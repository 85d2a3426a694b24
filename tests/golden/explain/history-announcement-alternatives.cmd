numalign explain pods/history/announced.yaml --machine figure-1 --policy single-numa-node --alternatives
