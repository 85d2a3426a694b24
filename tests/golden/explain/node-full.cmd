# status 1
numalign explain tests/golden/explain/more-than-all.yaml --machine figure-1
