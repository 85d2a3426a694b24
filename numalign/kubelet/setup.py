"""Everything that decides what happens on an empty node: the machine, the settings, and the kubelet that reads them."""

from __future__ import annotations

from typing import Literal

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import LATEST
from numalign.model.machine import Machine
from numalign.values import NamedTuple

Base = Literal["ideal", "kubelet"]
"""What holds where no setting is given: `ideal` is the node of the Topology Manager's announcement, on which nothing
has to be reserved; `kubelet` the kubelet's own defaults and refusals, to the letter."""


class Setup(NamedTuple):
    """A kubelet on a machine, before any pod comes."""

    machine: Machine
    config: KubeletConfig
    base: Base
    kubelet: Kubelet = LATEST
