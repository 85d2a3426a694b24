numalign admit pods/history/two-gpus.yaml --machine dgx-1 --policy restricted --replicas 4 --preferred-allocation proposal
