# status 1
numalign admit tests/golden/widths.yaml --machine figure-1 --policy restricted
