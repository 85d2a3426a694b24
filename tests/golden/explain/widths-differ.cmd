# status 1
numalign explain tests/golden/explain/wide-and-one-gpu.yaml --machine xeon-8s --policy restricted
