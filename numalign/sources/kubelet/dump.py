"""A kubelet's settings as the fields of a KubeletConfiguration, so that they read back to the same settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numalign.kubelet.config import FIELD_NAMES, KubeletConfig


def given(config: KubeletConfig) -> dict[str, Any]:
    """Return the settings that differ from the kubelet's defaults, under their names here."""
    defaults = KubeletConfig()._asdict()
    return {name: value for name, value in config._asdict().items() if value != defaults[name]}


def dump(config: KubeletConfig) -> dict[str, object]:
    """Write the settings that differ from the kubelet's defaults, under KubeletConfiguration's own names."""
    reserved = [{"numaNode": one.numa_node, "limits": dict(one.limits)} for one in config.reserved_memory]
    return {
        FIELD_NAMES[name]: reserved
        if name == "reserved_memory"
        else dict(value)
        if isinstance(value, Mapping)
        else value
        for name, value in given(config).items()
    }
