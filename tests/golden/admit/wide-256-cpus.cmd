# status 1
# columns 80
numalign admit pods/deployment.yaml pods/wide.yaml --machine epyc-2s-nps4 --policy restricted -o wide
