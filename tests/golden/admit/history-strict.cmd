numalign admit pods/history/apart.yaml --machine figure-1 --policy strict
