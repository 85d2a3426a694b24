numalign compare pods/two-containers-pod-scope.yaml --machine figure-1 --machine gb200 --try-option align-by-socket -o wide
