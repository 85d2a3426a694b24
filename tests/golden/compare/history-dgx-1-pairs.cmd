numalign compare --preferred-sets nvidia.com/gpu=2 --machine dgx-1
