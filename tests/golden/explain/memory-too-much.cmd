# status 1
numalign explain tests/golden/explain/more-than-all.yaml --machine figure-1 --policy none --memory-manager-policy Static --kube-reserved memory=1Gi --reserved-memory '0:memory=1Gi'
