"""What written configurations begin with, system by system, and the settings that go into them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from numalign.analysis.config.suggest import Suggestion
from numalign.kubelet.config import FIELD_NAMES
from numalign.render.json import Data


def settings_of(suggestion: Suggestion) -> Iterator[tuple[str, str, Any]]:
    """Yield what is suggested: the field of ours, its name in a KubeletConfiguration, the value."""
    for field, name in FIELD_NAMES.items():
        value = getattr(suggestion.config, field)
        if field in suggestion.reasons and value is not None:
            yield field, name, value


def setting_texts(value: object) -> Data:
    """Take a setting that is a mapping; of another one nothing."""
    return dict(value) if isinstance(value, Mapping) else {}


_TEXT: Final = """
== kubeadm
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
== kubeletconfig
apiVersion: machineconfiguration.openshift.io/v1
kind: KubeletConfig
metadata:
  name: numa-aligned
spec:
  autoSizingReserved: false
  machineConfigPoolSelector:
    matchLabels:
      # the label of your pool
      pools.operator.machineconfiguration.openshift.io/worker: ""
  kubeletConfig:
== eksctl
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: CLUSTER, region: REGION}
nodeGroups:
- name: numa-aligned
  amiFamily: AmazonLinux2023
  instanceType: TYPE
  kubeletExtraConfig:
== gke-configconnector
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerNodePool
metadata:
  name: numa-aligned
spec:
  location: LOCATION
  clusterRef: {name: CLUSTER}
  nodeConfig:
    kubeletConfig:
== aks-nodeclass
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata:
  name: numa-aligned
spec:
  kubelet:
== gardener
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
spec:
  provider:
    workers:
    - name: numa-aligned
      kubernetes:
        kubelet:
== talos
version: v1alpha1
machine:
  type: worker
  kubelet:
    extraConfig:
== kops
apiVersion: kops.k8s.io/v1alpha2
kind: InstanceGroup
metadata:
  name: numa-aligned
  labels: {kops.k8s.io/cluster: CLUSTER}
spec:
  role: Node
  kubelet:
== capi
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata:
  name: numa-aligned
spec:
  template:
    spec:
      joinConfiguration:
        patches: {directory: /etc/kubernetes/patches}
      files:
      - path: /etc/kubernetes/patches/kubeletconfiguration0+strategic.yaml
        permissions: "0644"
        content: |
== capi-v1beta1
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata:
  name: numa-aligned
spec:
  template:
    spec:
      joinConfiguration:
        nodeRegistration:
          kubeletExtraArgs:
== butane
variant: flatcar
version: 1.1.0
storage:
  files:
  - path: /etc/kubernetes/kubelet.yaml
    contents:
      inline: |
"""
HEADS: Final[Mapping[str, str]] = dict(part.split("\n", 1) for part in _TEXT.split("== ")[1:])
"""Output -> what stands before the settings."""
