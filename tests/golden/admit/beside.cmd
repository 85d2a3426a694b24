# status 1
numalign admit pods/announcement.yaml --beside pods/limits-only.yaml --machine figure-1 --policy restricted -o wide
