numalign lint pods/sidecar.yaml pods/mixed-exclusive-and-shared.yaml --ignore fractional-cpus -o json
