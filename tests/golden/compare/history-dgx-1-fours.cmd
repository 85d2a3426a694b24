numalign compare --preferred-sets nvidia.com/gpu=4 --machine dgx-1 -o json
