numalign compare pods/guaranteed-4cpu-1gpu.yaml --machine hgx-h100 --policy restricted
