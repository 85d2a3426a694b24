numalign compare --machine hgx-h100 --policy single-numa-node --scope pod --kubelet-version 1.32,1.36
