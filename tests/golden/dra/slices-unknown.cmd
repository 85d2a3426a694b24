# status 2
numalign dra slices -m figure-1 --like nope
