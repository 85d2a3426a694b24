# status 1
numalign explain tests/golden/explain/three-gpus.yaml --machine figure-1 --policy none
