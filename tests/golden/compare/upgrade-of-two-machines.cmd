# status 1
numalign compare pods/pod-level.yaml --machine hgx-h100 --machine xeon-4s --policy restricted --kubelet-version 1.32,1.36
