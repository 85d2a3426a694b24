"""What people paste of a machine: outputs of lscpu, numactl, lstopo, nvidia-smi, rocm-smi, NCCL, cAdvisor, a kubelet.

`machine` recognises them and makes one machine of all; each other module reads the outputs of one tool.
"""
