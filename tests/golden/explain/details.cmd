numalign explain pods/announcement.yaml --machine figure-1 --policy single-numa-node --pod numa-aligned-1 --details --alternatives
