# status 2
numalign machines figur-1
