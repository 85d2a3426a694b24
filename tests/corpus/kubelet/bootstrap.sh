#!/bin/bash
set -e
/etc/eks/bootstrap.sh c --use-max-pods false \
  --kubelet-extra-args "--cpu-manager-policy=static --max-pods=20 --node-labels=a=b"
