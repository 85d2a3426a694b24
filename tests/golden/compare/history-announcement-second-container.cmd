numalign compare --hints "cpu=01:T 10:T 11:F / gpu-vendor.com/gpu=10:T / nic-vendor.com/nic=10:T" -o wide
