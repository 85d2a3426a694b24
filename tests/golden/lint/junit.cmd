# status 1
numalign lint pods/cronjob.yaml pods/sidecar.yaml --machine xeon-2s-snc4 --cpu-manager-policy-options full-pcpus-only=true --fail-on rejected -o junit
