# status 4
numalign admit pods/history/choosy.yaml --machine figure-1 --scope pod --kubelet-version 1.19
