numalign explain tests/golden/explain/mesh.yaml --machine hgx-h100 --policy restricted
