"""KubeletConfiguration files and the kubelet's flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from numalign.errors import Notice
from numalign.kubelet.config import KubeletConfig
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.config.system import Ground
    from numalign.sources.kubelet.performance_profile import Pages


API_VERSION: Final = "kubelet.config.k8s.io/v1beta1"
KIND: Final = "KubeletConfiguration"


class Loaded(NamedTuple):
    """A configuration and what was odd about its source."""

    config: KubeletConfig
    warnings: tuple[Notice, ...]
    pages: tuple[Pages, ...] = ()
    """Huge pages that take the place of the machine's; empty: nothing is said of them."""
    ground: Ground | None = None
    """What the settings rest on; None: on a kubelet's defaults."""
    version: str = ""
    """The release that the file names; empty: none that numalign knows."""
