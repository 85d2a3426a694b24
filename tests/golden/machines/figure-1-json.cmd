numalign machines figure-1 -o json
