numalign machines
