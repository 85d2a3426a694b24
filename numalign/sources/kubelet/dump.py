"""A kubelet's settings as the fields of a KubeletConfiguration, so that they read back to the same settings."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.kubelet.config import FIELD_NAMES, KubeletConfig


def dump(config: KubeletConfig) -> dict[str, object]:
    """Write the settings that differ from the kubelet's defaults, under KubeletConfiguration's own names."""
    fields: dict[str, object] = {}
    for name, default in KubeletConfig()._asdict().items():
        value = getattr(config, name)
        if value == default:
            continue
        if name == "reserved_memory":
            value = [{"numaNode": one.numa_node, "limits": dict(one.limits)} for one in config.reserved_memory]
        fields[FIELD_NAMES[name]] = dict(value) if isinstance(value, Mapping) else value
    return fields
