numalign admit pods/hugepages.yaml --machine hgx-h100 --policy single-numa-node --memory-manager-policy Static --kube-reserved memory=1Gi --reserved-memory '0:memory=1Gi'
