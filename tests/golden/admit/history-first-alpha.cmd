# status 1
numalign admit pods/history/apart.yaml --machine figure-1 --policy restricted --kubelet-version 1.16
