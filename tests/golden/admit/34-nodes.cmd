# status 1
numalign admit pods/wide.yaml --machine gb200 --policy single-numa-node --topology-manager-policy-options max-allowable-numa-nodes=34
