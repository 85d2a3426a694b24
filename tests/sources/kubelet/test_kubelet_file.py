"""KubeletConfiguration files, drop-ins, configz and flags (docs/rules/kubelet-files.md 31, 32)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.errors import InputError, NumalignError, StartError
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig, MemoryReservation
from numalign.kubelet.start.reservation import DEFAULT_EVICTION
from numalign.sources.kubelet.configuration import load
from numalign.sources.kubelet.fields import read_fields
from numalign.sources.kubelet.flags import apply_flags

HEADER = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


def write(folder: Path, text: str, name: str = "kubelet.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_every_field_is_read(tmp_path: Path) -> None:
    text = HEADER + (
        "topologyManagerPolicy: restricted\ntopologyManagerScope: pod\n"
        "topologyManagerPolicyOptions: {max-allowable-numa-nodes: '9'}\ncpuManagerPolicy: static\n"
        "cpuManagerPolicyOptions: {full-pcpus-only: 'true'}\nreservedSystemCPUs: 0,4\nmemoryManagerPolicy: Static\n"
        "reservedMemory: [{numaNode: 1, limits: {memory: 1e9, hugepages-1Gi: 2Gi}}]\nkubeReserved: {cpu: '1'}\n"
        "systemReserved: {memory: 1Gi}\nevictionHard: {}\nfeatureGates: {CPUManagerPolicyAlphaOptions: true}\n"
        "maxPods: 50\npodsPerCore: 3\nsystemReservedCgroup: /s\nkubeReservedCgroup: /k\n"
        "localStorageCapacityIsolation: false\n"
    )
    loaded = load(write(tmp_path, text))
    assert loaded.warnings == ()
    assert loaded.config == KubeletConfig(
        topology_manager_policy="restricted",
        topology_manager_scope="pod",
        topology_manager_policy_options={"max-allowable-numa-nodes": "9"},
        cpu_manager_policy="static",
        cpu_manager_policy_options={"full-pcpus-only": "true"},
        reserved_system_cpus="0,4",
        memory_manager_policy="Static",
        reserved_memory=(MemoryReservation(1, {"memory": "1000000000", "hugepages-1Gi": "2Gi"}),),
        kube_reserved={"cpu": "1"},
        system_reserved={"memory": "1Gi"},
        eviction_hard={},
        feature_gates={"CPUManagerPolicyAlphaOptions": True},
        max_pods=50,
        pods_per_core=3,
        system_reserved_cgroup="/s",
        kube_reserved_cgroup="/k",
        local_storage_capacity_isolation=False,
    )


def test_what_counts_as_not_given() -> None:
    """Empty texts, nulls and maxPods 0 leave the default."""
    data = {"topologyManagerPolicy": "", "cpuManagerPolicyOptions": None, "evictionHard": None, "maxPods": 0}
    assert read_fields(data, "x").config == KubeletConfig()


def _go(noun: str, field: str, kind: str) -> str:
    return f"json: cannot unmarshal {noun} into Go struct field KubeletConfiguration.{field} of type {kind}"


WRONG_TYPES: dict[str, tuple[dict[str, Any], str]] = {
    "a number among texts": (
        {"kubeReserved": {"cpu": 4}},
        "x: kubeReserved.cpu: " + _go("number", "kubeReserved", "string"),
    ),
    "a boolean among texts": (
        {"cpuManagerPolicyOptions": {"full-pcpus-only": True}},
        "x: cpuManagerPolicyOptions.full-pcpus-only: " + _go("bool", "cpuManagerPolicyOptions", "string"),
    ),
    "a number for a text": (
        {"reservedSystemCPUs": 0},
        "x: reservedSystemCPUs: " + _go("number", "reservedSystemCPUs", "string"),
    ),
    "a text for a gate": (
        {"featureGates": {"A": "true"}},
        "x: featureGates.A: " + _go("string", "featureGates", "bool"),
    ),
    "a list for a map": (
        {"evictionHard": []},
        "x: evictionHard: " + _go("array", "evictionHard", "map[string]string"),
    ),
    "a fraction of pods": ({"maxPods": 1.5}, "x: maxPods: " + _go("number 1.5", "maxPods", "int32")),
    "an object for a list": (
        {"reservedMemory": {}},
        "x: reservedMemory: " + _go("object", "reservedMemory", "[]v1beta1.MemoryReservation"),
    ),
    "a text for a node": (
        {"reservedMemory": [{"numaNode": "0"}]},
        "x: reservedMemory[0].numaNode: " + _go("string", "reservedMemory.numaNode", "int32"),
    ),
    "no quantity": (
        {"reservedMemory": [{"numaNode": 0, "limits": {"memory": "1 Gi"}}]},
        (
            "x: reservedMemory[0].limits.memory: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', got '1 Gi'"
        ),
    ),
}


@pytest.mark.parametrize(("data", "text"), WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_type(data: dict[str, Any], text: str) -> None:
    with pytest.raises(StartError) as caught:
        read_fields(data, "x")
    assert str(caught.value) == text


def test_unknown_fields_are_warnings(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + "topologymanagerpolicy: none\nclusterDNS: []\n")
    (warning,) = load(path).warnings
    assert warning.path == f"{path}:3: topologymanagerpolicy"
    assert "similar: topologyManagerPolicy" in warning.message


REFUSED = {
    "no kind": ("apiVersion: kubelet.config.k8s.io/v1beta1\n", "kind: missing; fix: add kind: KubeletConfiguration"),
    "another kind": (HEADER.replace("KubeletConfiguration", "Pod"), 'expected KubeletConfiguration, got "Pod"'),
    "a list": ("- 1\n", "expected a KubeletConfiguration, got array"),
    "two documents": (f"{HEADER}---\n{HEADER}", "expected one KubeletConfiguration, found 2 documents with one"),
    "nothing": ("", "expected one KubeletConfiguration, found no documents"),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_no_kubelet_configuration(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        load(write(tmp_path, text))
    assert expected in str(caught.value)


def test_configz(tmp_path: Path) -> None:
    path = write(tmp_path, '{"kubeletconfig": {"cpuManagerPolicy": "static", "maxPods": 30}}', "configz.json")
    assert load(path).config == KubeletConfig(cpu_manager_policy="static", max_pods=30)


def test_drop_ins_win_in_text_order(tmp_path: Path) -> None:
    """Maps are merged key by key, lists replaced, other files passed over."""
    main = write(tmp_path, HEADER + "kubeReserved: {cpu: '1', memory: 1Gi}\nreservedMemory: [{numaNode: 0}]\n")
    folder = tmp_path / "conf.d"
    folder.mkdir()
    write(folder, HEADER + "kubeReserved: {cpu: '3'}\nreservedMemory: [{numaNode: 2}]\n", "20.conf")
    write(folder, HEADER + "kubeReserved: {cpu: '2'}\nmaxPods: 9\n", "10.conf")
    write(folder, "not: read\n", "30.yaml")
    config = load(main, folder).config
    assert config.kube_reserved == {"cpu": "3", "memory": "1Gi"}
    assert config.reserved_memory == (MemoryReservation(2, {}),)
    assert config.max_pods == 9


DROP_INS: dict[str, tuple[str, list[str], dict[str, str] | None]] = {
    "defaults come before drop-ins": (
        "",
        ["evictionHard: {nodefs.available: 15%}"],
        {**DEFAULT_EVICTION, "nodefs.available": "15%"},
    ),
    "the file's own map is merged key by key": (
        "evictionHard: {memory.available: 1Gi}",
        ["evictionHard: {nodefs.available: 15%}"],
        {"memory.available": "1Gi", "nodefs.available": "15%"},
    ),
    "null takes a key away": (
        "evictionHard: {memory.available: 1Gi, nodefs.available: 5%}",
        ["evictionHard: {memory.available: null}"],
        {"nodefs.available": "5%"},
    ),
    "null takes the map away, and no default comes again": ("", ["evictionHard: null"], {}),
    "merging with the defaults counts in the main file": (
        "evictionHard: {memory.available: 1Gi}\nmergeDefaultEvictionSettings: true",
        ["evictionHard: {pid.available: 1k}"],
        {**DEFAULT_EVICTION, "memory.available": "1Gi", "pid.available": "1k"},
    ),
    "and not in a drop-in": (
        "evictionHard: {memory.available: 1Gi}",
        ["mergeDefaultEvictionSettings: true"],
        {"memory.available": "1Gi"},
    ),
    "a drop-in about something else leaves the defaults": ("", ["maxPods: 3"], None),
}


@pytest.mark.parametrize("case", DROP_INS)
def test_thresholds_and_drop_ins(case: str, tmp_path: Path) -> None:
    main, drop_ins, thresholds = DROP_INS[case]
    folder = tmp_path / "d"
    folder.mkdir()
    for number, text in enumerate(drop_ins):
        write(folder, HEADER + text, f"{number}.conf")
    config = load(write(tmp_path, HEADER + main), folder).config
    assert (config.eviction_hard, config.merge_default_eviction_settings) == (thresholds, False)


def test_of_duplicate_keys_the_last_counts(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, HEADER + "maxPods: 1\nmaxPods: 2\n"))
    assert (loaded.config.max_pods, [one.code for one in loaded.warnings]) == (2, ["duplicate-key"])


def test_error_in_a_drop_in_names_it(tmp_path: Path) -> None:
    main = write(tmp_path, HEADER)
    write(tmp_path, HEADER + "kubeReserved:\n  cpu: 1\n", "a.conf")
    with pytest.raises(StartError) as caught:
        load(main, tmp_path)
    assert caught.value.where == f"{tmp_path / 'a.conf'}:4: kubeReserved.cpu"


def test_missing_drop_in_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot list the folder"):
        load(write(tmp_path, HEADER), tmp_path / "none")


FLAGS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "policy": ({"topology-manager-policy": "restricted"}, {"topology_manager_policy": "restricted"}),
    "an empty text is not given": ({"topology-manager-policy": ""}, {}),
    "options": (
        {"cpu-manager-policy-options": "full-pcpus-only=true, align-by-socket=false"},
        {"cpu_manager_policy_options": {"full-pcpus-only": "true", "align-by-socket": "false"}},
    ),
    "reserved memory": (
        {"reserved-memory": "0:memory=1Gi,hugepages-1Gi=2Gi;1:memory=2Gi"},
        {
            "reserved_memory": (
                MemoryReservation(0, {"memory": "1Gi", "hugepages-1Gi": "2Gi"}),
                MemoryReservation(1, {"memory": "2Gi"}),
            )
        },
    ),
    "eviction": ({"eviction-hard": "memory.available<5%"}, {"eviction_hard": {"memory.available": "5%"}}),
    "no eviction": ({"eviction-hard": ""}, {"eviction_hard": {}}),
    "gates are added": ({"feature-gates": "B=false"}, {"feature_gates": {"A": True, "B": False}}),
    "a map replaces the file's": ({"kube-reserved": "memory=1Gi"}, {"kube_reserved": {"memory": "1Gi"}}),
}


@pytest.mark.parametrize(("flags", "changed"), FLAGS.values(), ids=FLAGS)
def test_flag(flags: dict[str, str], changed: dict[str, Any]) -> None:
    base = KubeletConfig(feature_gates={"A": True}, kube_reserved={"cpu": "1"})
    assert apply_flags(base, flags) == base._replace(**changed)


BAD_FLAGS = {
    "policy": (
        "topology-manager-policy",
        "Restricted",
        'unknown value "Restricted"; hint: similar: restricted',
    ),
    "no sign": ("kube-reserved", "cpu", 'expected NAME=VALUE, several joined by commas (cpu=1,memory=1Gi), got "cpu"'),
    "no quantity": ("system-reserved", "cpu=x", 'cpu: expected a quantity like "500m" or "2Gi", got "x"'),
    "the wrong sign": (
        "eviction-hard",
        "memory.available=1Gi",
        (
            "expected NAME<VALUE, several joined by commas (memory.available<100Mi,nodefs.available<10%), "
            'got "memory.available=1Gi"'
        ),
    ),
    "no node": (
        "reserved-memory",
        "memory=1Gi",
        "expected NODE:RESOURCE=AMOUNT, nodes joined by ; (0:memory=1Gi;1:memory=1Gi), " + 'got "memory=1Gi"',
    ),
    "no CPU list": (
        "reserved-cpus",
        "0-",
        'expected a CPU list like "0-3,8", got "0-": strconv.Atoi: parsing "": invalid syntax',
    ),
    "no boolean": ("feature-gates", "A=on", 'A: expected true or false, got "on"'),
}


@pytest.mark.parametrize(("flag", "text", "message"), BAD_FLAGS.values(), ids=BAD_FLAGS)
def test_bad_flag(flag: str, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        apply_flags(KubeletConfig(), {flag: text})
    assert str(caught.value) == f"--{flag}: {message}"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(FIELD_NAMES.values())), JSON_VALUES, max_size=3))
def test_whatever_the_values_there_is_no_traceback(data: dict[str, Any]) -> None:
    try:
        loaded = read_fields(data, "x")
    except NumalignError:
        return
    assert isinstance(loaded.config, KubeletConfig)
