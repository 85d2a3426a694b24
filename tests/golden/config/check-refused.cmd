# status 4
numalign config check --machine figure-1 --policy restricted --memory-manager-policy Static --kube-reserved memory=1Gi --reserved-memory 0:memory=512Mi --cpu-manager-policy-options full-pcpu-only=true
