numalign admit tests/golden/admit/verdict-burstable.yaml --machine hgx-h100 --policy single-numa-node
