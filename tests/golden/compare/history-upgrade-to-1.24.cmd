# status 1
numalign compare pods/history/wide-cpus.yaml --machine figure-1 --policy restricted --kubelet-version 1.23,1.24
