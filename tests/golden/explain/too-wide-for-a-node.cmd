# status 1
numalign explain pods/wide.yaml --machine epyc-2s-nps4 --policy single-numa-node
