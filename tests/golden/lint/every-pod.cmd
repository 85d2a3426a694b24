# status 1
numalign lint pods
