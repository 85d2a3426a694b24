numalign compare --hints -o wide
