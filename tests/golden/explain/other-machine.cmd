# status 1
numalign explain pods/wide.yaml --machine epyc-2s-nps4 --machine xeon-4s --machine epyc-2s-nps1 --policy single-numa-node
