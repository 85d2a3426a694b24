# status 4
numalign explain pods/limits-only.yaml --machine figure-1 --policy restricted --memory-manager-policy Static
