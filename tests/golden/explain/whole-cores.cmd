# status 1
numalign explain tests/golden/explain/three-cpus.yaml --machine hgx-h100 --policy single-numa-node --cpu-manager-policy-options full-pcpus-only=true
