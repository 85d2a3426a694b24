# status 1
numalign compare pods/wide.yaml --machine figure-1 --need any
