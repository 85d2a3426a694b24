numalign explain tests/golden/apart.yaml --machine figure-1 --policy best-effort
