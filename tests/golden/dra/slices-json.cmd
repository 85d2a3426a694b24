numalign dra slices -m edge-1s -o json
