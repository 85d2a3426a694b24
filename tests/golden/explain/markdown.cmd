# status 1
numalign explain pods/announcement.yaml --machine figure-1 --policy single-numa-node -o markdown
