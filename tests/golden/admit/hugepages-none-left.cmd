# status 1
numalign admit pods/hugepages.yaml --machine figure-1
