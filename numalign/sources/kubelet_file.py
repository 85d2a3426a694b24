"""KubeletConfiguration -> KubeletConfig: files, drop-in folders, the kubelet's `/configz`, and flags over them.

Stands for docs/rules/kubelet-files.md rules 31 and 32. A value of the wrong type stops the kubelet, so it is a
`StartError` with the kubelet's own words; an unknown field is a warning, as it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from numalign.errors import HostError, InputError, StartError
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.model import quantity
from numalign.model.quantity import QuantityError

API_VERSION = "kubelet.config.k8s.io/v1beta1"
KIND = "KubeletConfiguration"


class Loaded(NamedTuple):
    """A configuration and what was odd about its source."""

    config: KubeletConfig
    warnings: tuple[str, ...]


def load(path: Path, config_dir: Path | None = None) -> Loaded:
    """Read a KubeletConfiguration file (YAML or JSON), or the JSON of `/configz`, and drop-ins over it.

    Drop-ins are the files of `config_dir` that end in `.conf`, in text order. A later file's fields win; maps are
    merged key by key, lists are replaced as a whole.

    Raises:
        InputError: a file is no KubeletConfiguration.
        StartError: the kubelet would not accept it.
        HostError: a file cannot be read.
    """
    merged = _document(path)
    for drop_in in _drop_ins(config_dir) if config_dir else ():
        merged = _merge(merged, _document(drop_in))
    return from_data(merged, str(path))


def from_data(data: Mapping[str, Any], where: str) -> Loaded:
    """Read the fields of a KubeletConfiguration; `apiVersion` and `kind` may be missing.

    Raises:
        StartError: a value has a type that the kubelet refuses.
    """
    settings: dict[str, Any] = {}
    warnings = []
    for field, value in data.items():
        known = _FIELDS.get(field)
        if known is None:
            if field not in _NO_INFLUENCE:
                warnings.append(_unknown(field, where))
        elif value is not None:
            name, read = known
            settings[name] = read(value, field, where)
    # An empty text and a maxPods of 0 count as not given.
    given = {name: value for name, value in settings.items() if value != "" and (name, value) != ("max_pods", 0)}
    return Loaded(KubeletConfig(**given), tuple(warnings))


def _document(path: Path) -> Mapping[str, Any]:
    """Read one file and check that it is what it should be."""
    from numalign.sources.yaml import load_one

    data = load_one(path)
    where = str(path)
    if not isinstance(data, Mapping):
        raise InputError(f"expected a {KIND}, got {_noun(data)}", where)
    configz = data.get("kubeletconfig")
    if isinstance(configz, Mapping):
        return {name: value for name, value in configz.items() if name not in ("apiVersion", "kind")}
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if field not in data:
            raise InputError(f"missing; a kubelet configuration needs {field}: {wanted}", f"{where}: {field}")
        if data[field] != wanted:
            raise InputError(f"expected {wanted}, got {data[field]!r}", f"{where}: {field}")
    return data


def _drop_ins(folder: Path) -> list[Path]:
    try:
        return sorted((entry for entry in folder.iterdir() if entry.name.endswith(".conf")), key=lambda one: one.name)
    except OSError as error:
        raise HostError(f"cannot list the folder: {error.strerror}", str(folder)) from None


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay a drop-in over what came before."""
    result = dict(base)
    for field, value in over.items():
        old = result.get(field)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[field] = _merge(old, value) if both else value  # type: ignore[arg-type]
    return result


def _unknown(field: str, where: str) -> str:
    import difflib

    near = difflib.get_close_matches(field, [*_FIELDS, *_NO_INFLUENCE], 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{where}: {field}: no such field of a {KIND}; the kubelet ignores it{hint}"


def _noun(value: Any) -> str:
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


def _refused(value: Any, field: str, kind: str, where: str, path: str = "") -> StartError:
    # The kubelet names the field as Go spells the struct's path; list indices are not in it.
    noun = _noun(value)
    if noun == "number" and kind.startswith("int"):
        noun = f"number {value}"
    message = f"json: cannot unmarshal {noun} into Go struct field {KIND}.{field} of type {kind}"
    if isinstance(value, bool | int) and kind == "string":
        shown = str(value).lower() if isinstance(value, bool) else value
        message += f' (write it as text: "{shown}")'
    return StartError(message, f"{where}: {path or field}")


def _text(value: Any, field: str, where: str) -> str:
    if not isinstance(value, str):
        raise _refused(value, field, "string", where)
    return value


def _bool(value: Any, field: str, where: str) -> bool:
    if not isinstance(value, bool):
        raise _refused(value, field, "bool", where)
    return value


def _int32(value: Any, field: str, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
        raise _refused(value, field, "int32", where)
    return value


def _map(kind: str) -> Callable[[Any, str, str], dict[str, Any]]:
    """Make the reader of a map of texts or booleans; a null among the values is the type's zero value."""
    wanted = str if kind == "string" else bool

    def read(value: Any, field: str, where: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _refused(value, field, f"map[string]{kind}", where)
        for key, inner in value.items():
            if inner is not None and not isinstance(inner, wanted):
                raise _refused(inner, field, kind, where, f"{field}.{key}")
        return {str(key): wanted() if inner is None else inner for key, inner in value.items()}

    return read


def _reserved_memory(value: Any, field: str, where: str) -> tuple[MemoryReservation, ...]:
    if not isinstance(value, list):
        raise _refused(value, field, "[]v1beta1.MemoryReservation", where)
    return tuple(_reservation(element, field, where, f"{field}[{place}]") for place, element in enumerate(value))


def _reservation(element: Any, field: str, where: str, path: str) -> MemoryReservation:
    if not isinstance(element, Mapping):
        raise _refused(element, field, "v1beta1.MemoryReservation", where, path)
    node = element.get("numaNode")
    if node is not None and (isinstance(node, bool) or not isinstance(node, int) or not -(2**31) <= node < 2**31):
        raise _refused(node, f"{field}.numaNode", "int32", where, f"{path}.numaNode")
    limits = element.get("limits")
    if limits is not None and not isinstance(limits, Mapping):
        raise _refused(limits, f"{field}.limits", "v1.ResourceList", where, f"{path}.limits")
    texts = {str(name): _amount(amount, where, f"{path}.limits.{name}") for name, amount in (limits or {}).items()}
    return MemoryReservation(node or 0, texts)


def _amount(value: Any, where: str, path: str) -> str:
    """Read a quantity of `reservedMemory`: the one place where a bare number will do (31)."""
    if value is None:
        return "0"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise StartError(f"unmarshalerDecoder: expected a quantity, got {_noun(value)}", f"{where}: {path}")
    text = str(value)
    try:
        quantity.parse(text)
    except QuantityError as error:
        raise StartError(f"{error}, got {text!r}", f"{where}: {path}") from None
    return text


_FIELDS: Mapping[str, tuple[str, Callable[[Any, str, str], Any]]] = {
    "topologyManagerPolicy": ("topology_manager_policy", _text),
    "topologyManagerScope": ("topology_manager_scope", _text),
    "topologyManagerPolicyOptions": ("topology_manager_policy_options", _map("string")),
    "cpuManagerPolicy": ("cpu_manager_policy", _text),
    "cpuManagerPolicyOptions": ("cpu_manager_policy_options", _map("string")),
    "reservedSystemCPUs": ("reserved_system_cpus", _text),
    "memoryManagerPolicy": ("memory_manager_policy", _text),
    "reservedMemory": ("reserved_memory", _reserved_memory),
    "kubeReserved": ("kube_reserved", _map("string")),
    "systemReserved": ("system_reserved", _map("string")),
    "evictionHard": ("eviction_hard", _map("string")),
    "featureGates": ("feature_gates", _map("bool")),
    "maxPods": ("max_pods", _int32),
    "podsPerCore": ("pods_per_core", _int32),
    "systemReservedCgroup": ("system_reserved_cgroup", _text),
    "kubeReservedCgroup": ("kube_reserved_cgroup", _text),
    "localStorageCapacityIsolation": ("local_storage_capacity_isolation", _bool),
}
"""Field of the file -> field of KubeletConfig and its reader."""

_PASSED_OVER = """
address allowedUnsafeSysctls apiVersion authentication authorization cgroupDriver cgroupRoot cgroupsPerQOS
clusterDNS clusterDomain configMapAndSecretChangeDetectionStrategy containerLogMaxFiles containerLogMaxSize
containerLogMaxWorkers containerLogMonitorInterval containerRuntimeEndpoint contentType cpuCFSQuota
cpuCFSQuotaPeriod cpuManagerReconcilePeriod crashLoopBackOff enableContentionProfiling enableControllerAttachDetach
enableDebugFlagsHandler enableDebuggingHandlers enableProfilingHandler enableServer enableSystemLogHandler
enableSystemLogQuery enforceNodeAllocatable eventBurst eventRecordQPS evictionMaxPodGracePeriod
evictionMinimumReclaim evictionPressureTransitionPeriod evictionSoft evictionSoftGracePeriod failCgroupV1 failSwapOn
fileCheckFrequency hairpinMode healthzBindAddress healthzPort httpCheckFrequency imageGCHighThresholdPercent
imageGCLowThresholdPercent imageMaximumGCAge imageMinimumGCAge imageServiceEndpoint iptablesDropBit
iptablesMasqueradeBit kernelMemcgNotification kind kubeAPIBurst kubeAPIQPS kubeletCgroups logging
makeIPTablesUtilChains maxOpenFiles maxParallelImagePulls memorySwap memoryThrottlingFactor nodeLeaseDurationSeconds
nodeStatusMaxImages nodeStatusReportFrequency nodeStatusUpdateFrequency oomScoreAdj podCIDR podLogsDir podPidsLimit
port protectKernelDefaults providerID qosReserved readOnlyPort registerNode registerWithTaints registryBurst
registryPullQPS resolvConf rotateCertificates runOnce runtimeRequestTimeout seccompDefault serializeImagePulls
serverTLSBootstrap showHiddenMetricsForVersion shutdownGracePeriod shutdownGracePeriodByPodPriority
shutdownGracePeriodCriticalPods staticPodPath staticPodURL staticPodURLHeader streamingConnectionIdleTimeout
syncFrequency systemCgroups tlsCertFile tlsCipherSuites tlsMinVersion tlsPrivateKeyFile tracing volumePluginDir
volumeStatsAggPeriod
"""
_NO_INFLUENCE = frozenset(_PASSED_OVER.split())
"""Fields that decide nothing numalign looks at: known, and passed over."""
