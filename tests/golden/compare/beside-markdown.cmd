numalign compare pods/guaranteed-4cpu-1gpu.yaml --beside pods/deployment.yaml --machine dgx-1 -o markdown
