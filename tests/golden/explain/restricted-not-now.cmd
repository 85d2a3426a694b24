# status 1
numalign explain pods/limits-only.yaml --beside tests/golden/explain/three-of-each-beside.yaml --machine figure-1 --policy restricted
