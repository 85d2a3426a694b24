numalign compare --hints "GPUs=11:T / CPUManager=01:T 10:T 11:T"
