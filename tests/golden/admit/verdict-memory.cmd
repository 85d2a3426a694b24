numalign admit tests/golden/admit/verdict-memory.yaml --machine hgx-h100 --policy single-numa-node
