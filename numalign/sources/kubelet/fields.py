"""The fields of a KubeletConfiguration -> KubeletConfig and back (docs/rules/kubelet-files.md 31).

A value of the wrong type stops the kubelet, so it is a `StartError` with the kubelet's own words; an unknown field is a
warning, as it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from numalign.errors import Notice, StartError
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig, MemoryReservation
from numalign.model import quantity
from numalign.model.gotext import number_text
from numalign.model.path import child
from numalign.model.quantity import QuantityError
from numalign.sources.kubelet import KIND, Loaded

Where = Callable[[str], str]
"""Says where a field path stands: `file:line: path`."""
SETTINGS: Final = frozenset(FIELD_NAMES.values())
"""Fields of a KubeletConfiguration that decide something here."""


_PASSED_OVER = """
address allowedUnsafeSysctls apiVersion authentication authorization cgroupDriver cgroupRoot cgroupsPerQOS
clusterDNS clusterDomain configMapAndSecretChangeDetectionStrategy containerLogMaxFiles containerLogMaxSize
containerLogMaxWorkers containerLogMonitorInterval containerRuntimeEndpoint contentType cpuCFSQuota
cpuCFSQuotaPeriod cpuManagerReconcilePeriod crashLoopBackOff enableContentionProfiling
enableControllerAttachDetach enableDebugFlagsHandler enableDebuggingHandlers enableProfilingHandler enableServer
enableSystemLogHandler enableSystemLogQuery enforceNodeAllocatable eventBurst eventRecordQPS
evictionMaxPodGracePeriod evictionMinimumReclaim evictionPressureTransitionPeriod evictionSoft
evictionSoftGracePeriod failSwapOn fileCheckFrequency hairpinMode healthzBindAddress healthzPort
httpCheckFrequency imageGCHighThresholdPercent imageGCLowThresholdPercent imageMaximumGCAge imageMinimumGCAge
imageServiceEndpoint iptablesDropBit iptablesMasqueradeBit kernelMemcgNotification kind kubeAPIBurst kubeAPIQPS
kubeletCgroups logging makeIPTablesUtilChains maxOpenFiles maxParallelImagePulls memoryReservationPolicy
memorySwap memoryThrottlingFactor nodeLeaseDurationSeconds nodeStatusMaxImages nodeStatusReportFrequency
nodeStatusUpdateFrequency oomScoreAdj podCIDR podLogsDir podPidsLimit port protectKernelDefaults providerID
qosReserved readOnlyPort registerNode registerWithTaints registryBurst registryPullQPS resolvConf
rotateCertificates runOnce runtimeRequestTimeout seccompDefault serializeImagePulls serverTLSBootstrap
showHiddenMetricsForVersion shutdownGracePeriod shutdownGracePeriodByPodPriority shutdownGracePeriodCriticalPods
staticPodPath staticPodURL staticPodURLHeader streamingConnectionIdleTimeout syncFrequency systemCgroups
tlsCertFile tlsCipherSuites tlsMinVersion tlsPrivateKeyFile tracing volumePluginDir volumeStatsAggPeriod
imagePullCredentialsVerificationPolicy preloadedImagesVerificationAllowlist userNamespaces
"""
NO_INFLUENCE = frozenset(_PASSED_OVER.split())
"""Fields that decide nothing numalign looks at: known, and passed over."""


def is_field(name: str) -> bool:
    """Tell whether a KubeletConfiguration has a field, be it one that decides nothing here."""
    return name in SETTINGS or name in NO_INFLUENCE


MAX_MEANT = 10
"""For so many unknown fields the nearest known one and the line are looked for; both take long."""


def read_fields(data: Mapping[str, object], where: str | Where) -> Loaded:
    """Read the fields of a KubeletConfiguration; `apiVersion` and `kind` may be missing.

    Args:
        data: the fields, decoded.
        where: what errors put before a field's path, or what tells its place.

    Raises:
        StartError: a value has a type that the kubelet refuses.
    """
    place = (lambda field: f"{where}: {field}") if isinstance(where, str) else where
    settings: dict[str, Any] = {}
    warnings: list[Notice] = []
    for field, value in data.items():
        known = _FIELDS.get(field)
        if known is None:
            if field not in NO_INFLUENCE:
                brief = len(warnings) >= MAX_MEANT
                text = f"unknown field of a {KIND}: the kubelet ignores it{'' if brief else _hint(field)}"
                warnings.append(Notice("unknown-field", text, f"{place('')}: {field}" if brief else place(field)))
        elif value is not None:
            name, read = known
            settings[name] = read(value, field, place)
    # An empty text and a maxPods of 0 count as not given.
    given = {name: value for name, value in settings.items() if value != "" and (name, value) != ("max_pods", 0)}
    return Loaded(KubeletConfig(**given), tuple(warnings))


def _hint(field: str) -> str:
    from numalign.model.words import nearest

    meant = nearest(field, [*_FIELDS, *NO_INFLUENCE])
    return f"; hint: similar: {meant}" if meant else ""


def _noun(value: object) -> str:
    """Name a JSON value's type as the kubelet's decoder does."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _refused(value: object, field: str, kind: str, where: Where, path: str = "") -> StartError:
    # The kubelet names the field as Go spells the struct's path; list indices are not in it.
    noun = _noun(value)
    if noun == "number" and kind.startswith("int"):
        noun = f"number {value}"
    return StartError(
        f"json: cannot unmarshal {noun} into Go struct field {KIND}.{field} of type {kind}", where(path or field)
    )


def _text(value: object, field: str, where: Where) -> str:
    if not isinstance(value, str):
        raise _refused(value, field, "string", where)
    return value


def _bool(value: object, field: str, where: Where) -> bool:
    if not isinstance(value, bool):
        raise _refused(value, field, "bool", where)
    return value


def _int32(value: object, field: str, where: Where, path: str = "") -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
        raise _refused(value, field, "int32", where, path)
    return value


def _map(kind: str) -> Callable[[object, str, Where], dict[str, object]]:
    """Make the reader of a map of texts or booleans; a null among the values is the type's zero value."""
    wanted = str if kind == "string" else bool

    def read(value: object, field: str, where: Where) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise _refused(value, field, f"map[string]{kind}", where)
        for key, inner in value.items():
            if inner is not None and not isinstance(inner, wanted):
                raise _refused(inner, field, kind, where, child(field, str(key)))
        return {str(key): wanted() if inner is None else inner for key, inner in value.items()}

    return read


def _reserved_memory(value: object, field: str, where: Where) -> tuple[MemoryReservation, ...]:
    if not isinstance(value, list):
        raise _refused(value, field, "[]v1beta1.MemoryReservation", where)
    return tuple(_reservation(element, field, where, f"{field}[{place}]") for place, element in enumerate(value))


def _reservation(element: object, field: str, where: Where, path: str) -> MemoryReservation:
    if not isinstance(element, Mapping):
        raise _refused(element, field, "v1beta1.MemoryReservation", where, path)
    given, limits = element.get("numaNode"), element.get("limits")
    node = 0 if given is None else _int32(given, f"{field}.numaNode", where, f"{path}.numaNode")
    if limits is not None and not isinstance(limits, Mapping):
        raise _refused(limits, f"{field}.limits", "v1.ResourceList", where, f"{path}.limits")
    texts = {
        str(name): _amount(amount, where, child(f"{path}.limits", str(name))) for name, amount in (limits or {}).items()
    }
    return MemoryReservation(node, texts)


def _amount(value: object, where: Where, path: str) -> str:
    """Read a quantity of `reservedMemory`: the one place where a bare number will do (31)."""
    if value is None:
        return "0"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise StartError(f"unmarshalerDecoder: expected a quantity, got {_noun(value)}", where(path))
    text = value if isinstance(value, str) else number_text(value)
    try:
        quantity.parse(text)
    except QuantityError as error:
        raise StartError(f"{error}, got {text!r}{quantity.fix_of(text)}", where(path)) from None
    return text


_READERS: Mapping[str, Callable[[Any, str, Where], Any]] = {
    "topology_manager_policy": _text,
    "topology_manager_scope": _text,
    "topology_manager_policy_options": _map("string"),
    "cpu_manager_policy": _text,
    "cpu_manager_policy_options": _map("string"),
    "reserved_system_cpus": _text,
    "memory_manager_policy": _text,
    "reserved_memory": _reserved_memory,
    "kube_reserved": _map("string"),
    "system_reserved": _map("string"),
    "eviction_hard": _map("string"),
    "feature_gates": _map("bool"),
    "max_pods": _int32,
    "pods_per_core": _int32,
    "system_reserved_cgroup": _text,
    "kube_reserved_cgroup": _text,
    "local_storage_capacity_isolation": _bool,
    "merge_default_eviction_settings": _bool,
    "fail_cgroup_v1": _bool,
}
_FIELDS = {FIELD_NAMES[name]: (name, reader) for name, reader in _READERS.items()}
"""Field of the file -> field of KubeletConfig and its reader."""


def given(config: KubeletConfig) -> dict[str, Any]:
    """Return the settings that differ from the kubelet's defaults, under their names here."""
    defaults = KubeletConfig()._asdict()
    return {name: value for name, value in config._asdict().items() if value != defaults[name]}


def dump(config: KubeletConfig) -> dict[str, object]:
    """Write the settings that differ from the kubelet's defaults under KubeletConfiguration's own names."""
    reserved = [{"numaNode": one.numa_node, "limits": dict(one.limits)} for one in config.reserved_memory]
    return {
        FIELD_NAMES[name]: reserved
        if name == "reserved_memory"
        else dict(value)
        if isinstance(value, Mapping)
        else value
        for name, value in given(config).items()
    }
