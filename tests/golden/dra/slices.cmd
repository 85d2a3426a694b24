numalign dra slices -m figure-1 --like cpu,gpu.example.com=gpu-vendor.com/gpu
