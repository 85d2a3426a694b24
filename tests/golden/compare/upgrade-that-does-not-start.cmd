# status 1
numalign compare --machine figure-1 --feature-gates PodLevelResources=false --kubelet-version 1.32,1.36
