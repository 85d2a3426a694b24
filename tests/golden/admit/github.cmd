# status 1
numalign admit pods/announcement.yaml pods/wide.yaml --machine figure-1 --policy restricted -o github
