# status 1
numalign admit pods/announcement.yaml --machine figure-1 --policy none
