# status 4
numalign explain pods/limits-only.yaml --beside tests/golden/explain/no-such-pages.yaml --machine figure-1 --policy restricted --memory-manager-policy Static --kube-reserved memory=1Gi --reserved-memory '0:memory=1Gi'
