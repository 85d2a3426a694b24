# status 1
numalign explain tests/golden/explain/eight-gpus.yaml --machine hgx-h100 --policy restricted
