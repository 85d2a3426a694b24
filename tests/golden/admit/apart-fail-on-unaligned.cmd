# status 1
numalign admit tests/golden/apart.yaml --machine figure-1 --policy none --fail-on unaligned
