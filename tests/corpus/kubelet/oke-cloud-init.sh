#!/bin/bash
curl -o /var/run/oke-init.sh URL
bash /var/run/oke-init.sh --kubelet-extra-args "--cpu-manager-policy=static --kube-reserved=cpu=1"
