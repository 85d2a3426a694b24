# status 1
numalign admit pods/guaranteed-4cpu-1gpu.yaml --machine figure-1 --policy restricted
