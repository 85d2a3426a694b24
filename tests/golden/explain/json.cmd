# status 1
numalign explain pods/announcement.yaml --machine figure-1 --policy single-numa-node --pod numa-aligned-3 --details -o json
