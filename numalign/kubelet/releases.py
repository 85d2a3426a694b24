"""What changed from release to release of the kubelet: one table, and the profiles that follow from it.

docs/rules/topology-manager.md 13, docs/rules/device-manager.md 10, docs/rules/cpu-manager.md 15.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from numalign.errors import InputError, StartError
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.profile import REFERENCE, REFERENCE_RELEASE, Profile, Release, version

FIRST: Release = (1, 16)
"""The Topology Manager's first, as alpha."""


class Difference(NamedTuple):
    """One thing that changed with a release."""

    since: Release
    field: str
    """A field of `Profile`; `levels.NAME` or `gates.NAME` for one entry of a mapping."""
    before: Any
    """Its value in earlier releases; of a mapping's entry None where there was none."""
    topic: str
    older: str
    newer: str


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        (1, 17),
        "merge",
        "2019",
        "empty intersections",
        "two preferred hints on different nodes merge to a preferred hint of no node at all, which `restricted` admits",
        "hints without a common node never make a candidate",
    ),
    Difference(
        (1, 17),
        "devices_merged",
        True,
        "device hints",
        "merged inside the Device Manager, so that nobody else sees which resource wants what",
        "one list of hints a resource",
    ),
    Difference(
        (1, 18),
        "hints_first",
        True,
        "hints and allocation",
        "hints of all containers are taken on the same state, allocation comes after the last one",
        "a container is allocated before the next one is asked",
    ),
    Difference(
        (1, 18),
        "single_filter",
        False,
        "single-numa-node",
        "a hint of several nodes makes a combination not preferred",
        "only preferred hints of one node take part",
    ),
    Difference(
        (1, 18),
        "refusal",
        ("Topology Affinity Error", "Resources cannot be allocated with Topology Locality"),
        "refusal",
        "reason `Topology Affinity Error`",
        "reason `TopologyAffinityError`",
    ),
    Difference(
        (1, 19),
        "reuse_in_hints",
        False,
        "init containers",
        "hints do not see the CPUs and devices that ended init containers leave",
        "hints count them as free for the pod, and must cover them",
    ),
    Difference(
        (1, 19),
        "asks_plugin",
        False,
        "device plugins",
        "the kubelet takes any device of the right node",
        "the plugin may name the devices it prefers (GetPreferredAllocation)",
    ),
    Difference(
        (1, 20),
        "pod_scope",
        False,
        "scope",
        "containers are aligned one by one",
        "`topologyManagerScope: pod` aligns the pod as a whole",
    ),
    Difference(
        (1, 21),
        "memory_manager",
        False,
        "memory",
        "there is no Memory Manager",
        "the Memory Manager gives hints and pins memory and huge pages",
    ),
    Difference(
        (1, 22),
        "cpu_options",
        False,
        "CPU manager options",
        "there are none",
        "`cpuManagerPolicyOptions`, behind the gate CPUManagerPolicyOptions",
    ),
    Difference(
        (1, 22),
        "levels.full-pcpus-only",
        None,
        "option full-pcpus-only",
        "unknown",
        "alpha",
    ),
    Difference(
        (1, 23),
        "gates.CPUManagerPolicyOptions",
        False,
        "gate CPUManagerPolicyOptions",
        "off unless asked for",
        "on by default",
    ),
    Difference((1, 23), "levels.full-pcpus-only", "Alpha", "option full-pcpus-only", "alpha", "beta"),
    Difference(
        (1, 23), "levels.distribute-cpus-across-numa", None, "option distribute-cpus-across-numa", "unknown", "alpha"
    ),
    Difference(
        (1, 24),
        "merge",
        "narrowest",
        "preferred hints",
        "preferred hints of different masks merge to their intersection, preferred; else the narrowest mask wins",
        "a merged hint is preferred only if all masks are equal; else the widest of the narrowest masks is aimed at",
    ),
    Difference((1, 25), "levels.align-by-socket", None, "option align-by-socket", "unknown", "alpha"),
    Difference(
        (1, 26),
        "topology_options",
        False,
        "topology manager options",
        "there are none",
        "`topologyManagerPolicyOptions`, behind the gate TopologyManagerPolicyOptions",
    ),
    Difference(
        (1, 26),
        "levels.prefer-closest-numa-nodes",
        None,
        "option prefer-closest-numa-nodes",
        "unknown; of masks of equal width the lowest wins",
        "alpha; the closest mask wins",
    ),
    Difference(
        (1, 28),
        "gates.TopologyManagerPolicyOptions",
        False,
        "gate TopologyManagerPolicyOptions",
        "off unless asked for",
        "on by default",
    ),
    Difference(
        (1, 28),
        "gates.TopologyManagerPolicyBetaOptions",
        False,
        "gate TopologyManagerPolicyBetaOptions",
        "off unless asked for",
        "on by default",
    ),
    Difference(
        (1, 28), "levels.prefer-closest-numa-nodes", "Alpha", "option prefer-closest-numa-nodes", "alpha", "beta"
    ),
    Difference(
        (1, 28),
        "sidecars",
        False,
        "sidecars",
        "`restartPolicy: Always` of an init container is not known: later containers take over what it has",
        "sidecars keep their CPUs and devices",
    ),
    Difference(
        (1, 31),
        "levels.max-allowable-numa-nodes",
        None,
        "option max-allowable-numa-nodes",
        "unknown; 8 NUMA nodes are the limit",
        "beta; more than 8 NUMA nodes can be allowed",
    ),
    Difference(
        (1, 31), "levels.distribute-cpus-across-cores", None, "option distribute-cpus-across-cores", "unknown", "alpha"
    ),
    Difference(
        (1, 32), "levels.prefer-closest-numa-nodes", "Beta", "option prefer-closest-numa-nodes", "beta", "stable"
    ),
    Difference((1, 32), "levels.strict-cpu-reservation", None, "option strict-cpu-reservation", "unknown", "alpha"),
    Difference(
        (1, 32),
        "levels.prefer-align-cpus-by-uncorecache",
        None,
        "option prefer-align-cpus-by-uncorecache",
        "unknown",
        "alpha",
    ),
)
"""Oldest first. Rows of one field undo each other from the newest to the oldest."""


def parse_release(text: str) -> Release:
    """Read a kubelet version: `1.23`, `v1.23`, `v1.23.17`.

    Raises:
        InputError: it is none, or not one from 1.16 to 1.32.
    """
    match = re.fullmatch(r"v?1\.(\d{1,3})(?:\.\d+)?", text.strip(), re.ASCII)
    release = (1, int(match[1])) if match else None
    if release is None or not FIRST <= release <= REFERENCE_RELEASE:
        raise InputError(
            f"--kubelet-version: expected a version from {version(FIRST)} to {version(REFERENCE_RELEASE)}, got {text!r}"
        )
    return release


def profile_of(release: Release) -> Profile:
    """Undo, newest first, every difference that came after a release."""
    fields: dict[str, Any] = {}
    maps: dict[str, Any] = {"levels": dict(REFERENCE.levels), "gates": {}}
    for difference in reversed(DIFFERENCES):
        if difference.since <= release:
            continue
        field, _, entry = difference.field.partition(".")
        if not entry:
            fields[field] = difference.before
        elif difference.before is None:
            maps[field].pop(entry, None)
        else:
            maps[field][entry] = difference.before
    profile = Profile(release=release, **fields, **maps)
    return REFERENCE if profile == REFERENCE else profile


def between(older: Release, newer: Release) -> Iterator[Difference]:
    """List what an upgrade brings, oldest first."""
    return (difference for difference in DIFFERENCES if older < difference.since <= newer)


def known_settings(config: KubeletConfig, profile: Profile) -> KubeletConfig:
    """Read a configuration as a kubelet of the profile's release does: with its gates, without later settings.

    Raises:
        StartError: the configuration uses a setting that the release does not have.
    """
    used = (
        ("pod_scope", "topologyManagerScope", config.topology_manager_scope != "container"),
        ("memory_manager", "memoryManagerPolicy", config.memory_manager_policy != "None"),
        ("memory_manager", "reservedMemory", bool(config.reserved_memory)),
        ("topology_options", "topologyManagerPolicyOptions", bool(config.topology_manager_policy_options)),
        ("cpu_options", "cpuManagerPolicyOptions", bool(config.cpu_manager_policy_options)),
    )
    for field, setting, given in used:
        if given and not getattr(profile, field):
            since = next(difference.since for difference in DIFFERENCES if difference.field == field)
            raise StartError(f"kubelet {version(profile.release)} has no {setting}: it came with {version(since)}")
    return config._replace(feature_gates={**profile.gates, **config.feature_gates})
