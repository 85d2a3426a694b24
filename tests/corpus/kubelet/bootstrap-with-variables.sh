#!/bin/bash
/etc/eks/bootstrap.sh c --kubelet-extra-args "--cpu-manager-policy=static --reserved-cpus=0-1 --kube-reserved=cpu=$CPUS"
