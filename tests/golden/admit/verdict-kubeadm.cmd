# status 1
numalign admit tests/golden/admit/verdict-apart.yaml tests/golden/admit/verdict-memory.yaml --machine hgx-h100 --kubelet-config tests/golden/admit/verdict-kubeadm.yaml --fail-on unaligned
