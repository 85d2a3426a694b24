# status 1
numalign admit tests/golden/memory.yaml --machine figure-1 --kubelet-config tests/golden/memory-kubelet.yaml --policy none
