numalign compare --hints "cpu=01:T 10:T 11:F / gpu-vendor.com/gpu=01:T 10:T / nic-vendor.com/nic=01:T 10:T" -o wide
