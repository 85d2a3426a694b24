numalign admit pods/init-container-reuse.yaml pods/sidecar.yaml --machine edge-1s --policy restricted
