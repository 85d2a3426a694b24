"""From names to values: the machine, the kubelet on it and the pods that come up, with what was odd about them.

Everything is read and checked before the first admission, so that wrong input (status 2) beats a refusal (status 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.errors import InputError, Notice
from numalign.kubelet.config import IDEAL, KubeletConfig
from numalign.kubelet.releases.release import Kubelet, version_text
from numalign.kubelet.releases.table import (
    LATEST,
    PUBLISHED_NOTE,
    first_with_setting,
    is_published,
    kubelet,
    parse_version,
)
from numalign.kubelet.setup import Base, Setup
from numalign.kubelet.start.check import MERGE_EVICTION
from numalign.model.machine import Machine
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.config.system import Facts, Ground
    from numalign.sources.kubelet import Loaded
    from numalign.sources.kubelet.performance_profile import Pages
    from numalign.tasks.requests import KubeletRequest


MANAGER_GATE = "TopologyManager"
"""The gate of the whole Topology Manager, off by default in its alpha, 1.16 and 1.17; gone since 1.29."""


class LoadedMachine(NamedTuple):
    """A machine that was read."""

    machine: Machine
    origin: str
    """Where it came from: `bundled`, a file's name, `short form`, `this host`."""
    notices: tuple[Notice, ...]


class LoadedSetup(NamedTuple):
    """A machine and the kubelet on it, read and put together."""

    setup: Setup
    origin: str
    """Where the machine came from."""
    notices: tuple[Notice, ...]
    ground: Ground | None = None
    """What the settings rest on; None: on a kubelet's defaults."""


def load_setup(machine: str | None, request: KubeletRequest, *, doubtful: bool = False) -> LoadedSetup:
    """Read the machine and the settings: a flag beats the file, the file beats the machine's own section.

    Args:
        machine: the machine; None: the live host.
        request: the settings asked for.
        doubtful: also where it is unknown whether the kubelet starts.

    Raises:
        InputError: something is wrong with them.
        HostError: the live host cannot be read.
        StartError: the kubelet would not accept the configuration.
    """
    found, origin, notices = load_machine(machine)
    changes = getattr(machine, "changes", None)
    on = setup_on(found, origin, request, pages_given=bool(changes and changes.hugepages))
    if on.ground and on.ground.unknown and not doubtful:
        from numalign.analysis.config.check import doubt

        if text := doubt(on.setup, on.ground):
            raise InputError(text, request.config or "")
    return on._replace(notices=(*notices, *on.notices))


def told_apart(loaded: Sequence[LoadedSetup]) -> list[LoadedSetup]:
    """Number machines that have one name: `node`, `node (2)`."""
    seen: dict[str, int] = {}
    result = []
    for one in loaded:
        machine = one.setup.machine
        number = seen[machine.name] = seen.get(machine.name, 0) + 1
        name = machine.name if number == 1 else f"{machine.name} ({number})"
        result.append(one._replace(setup=one.setup._replace(machine=machine._replace(name=name))))
    return result


def setup_on(
    machine: Machine,
    origin: str,
    request: KubeletRequest,
    given: KubeletConfig | None = None,
    *,
    pages_given: bool = False,
) -> LoadedSetup:
    """Put a machine and the settings on it together.

    Args:
        machine: the machine.
        origin: where it came from.
        request: the settings asked for.
        given: a configuration that was read already, in place of a file.
        pages_given: the machine's huge pages were asked for, so a profile's do not replace them.

    Raises:
        InputError: something is wrong with them.
        StartError: the kubelet would not accept the configuration.
    """
    config, base, notices, loaded = load_config(machine, origin, request, given)
    if loaded and loaded.pages and not pages_given:
        machine, notices = _with_pages(machine, loaded.pages, notices)
    if request.version is None:
        request = request._replace(version=machine.kubelet_version or (loaded and loaded.version) or None)
    asked = kubelet_asked(request)
    setup = Setup(machine, config, base, asked)
    notices += tuple(unused_settings(setup))
    return LoadedSetup(setup, origin, (*notices, *_history(asked, config)), loaded and loaded.ground)


def _with_pages(
    machine: Machine, pages: Sequence[Pages], notices: tuple[Notice, ...]
) -> tuple[Machine, tuple[Notice, ...]]:
    """Give the machine a profile's huge pages, and say so."""
    from numalign.sources.kubelet.performance_profile import with_pages

    text = "the profile's huge pages replace those of the machine"
    return with_pages(machine, pages), (*notices, Notice("settings-of-the-machine", text, "spec.hugepages"))


def _history(asked: Kubelet, config: KubeletConfig) -> Iterator[Notice]:
    """Say which gate an earlier kubelet needs; that it is one, every screen's head says."""
    release = version_text(asked.version)
    if is_published(asked.version):
        yield Notice("published-release", PUBLISHED_NOTE.format(release), "--kubelet-version")
    gate = asked.gates.get(MANAGER_GATE)
    given = MANAGER_GATE in config.feature_gates
    if gate and not gate.default and not given and config.topology_manager_policy != "none":
        text = f"kubelet {release} disables gate {MANAGER_GATE} by default; numalign enables it"
        yield Notice("history-gate", text, "--feature-gates")


def unused_settings(setup: Setup) -> Iterator[Notice]:
    """Say which settings this release may not know."""
    config, kubelet = setup.config, setup.kubelet
    if config.merge_default_eviction_settings and MERGE_EVICTION not in kubelet.settings:
        since = version_text(first_with_setting(MERGE_EVICTION))
        yield Notice(
            "unknown-field",
            f"kubelet {version_text(kubelet.version)} ignores the setting, which is new in {since}",
            MERGE_EVICTION,
        )
    if not config.feature_gates:
        return
    from numalign.kubelet.start.feature_gates import doubtful_gates
    from numalign.model.words import nearest

    for name in doubtful_gates(kubelet, config.feature_gates):
        release = version_text(kubelet.version)
        text = f"{name}: unknown feature gate. A kubelet {release} without this gate crashes at its start"
        meant = nearest(name, kubelet.gates, 0.8)
        yield Notice("unknown-gate", f"{text}; hint: similar: {meant}" if meant else text, "featureGates")


def kubelet_asked(request: KubeletRequest) -> Kubelet:
    """Return the kubelet that is asked for: the newest that was recorded, unless another is named.

    Raises:
        InputError: the version is not a release that numalign knows.
    """
    return LATEST if request.version is None else kubelet(parse_version(request.version))


def load_machine(name: str | None) -> LoadedMachine:
    """Read one machine; None: the live host.

    Raises:
        InputError: there is no such machine, or its file is wrong.
        HostError: the live host cannot be read.
    """
    if name is None:
        from numalign.sources.host.discovery import live_machine

        live = live_machine()
        return LoadedMachine(live.machine, "this host", tuple(Notice("host", text) for text in live.warnings))
    from numalign.sources.machine.loading import load_machine as load
    from numalign.tasks.requests import MachineName

    loaded = load(name, name.beside if isinstance(name, MachineName) else ())
    if not isinstance(name, MachineName) or name.changes is None:
        return LoadedMachine(loaded.machine, loaded.origin, loaded.warnings)
    from numalign.sources.machine.changes import changed

    machine, notices = changed(loaded.machine, name.changes)
    return LoadedMachine(machine, f"{loaded.origin}, changed", notices)


def load_config(
    machine: Machine, origin: str, request: KubeletRequest, given: KubeletConfig | None = None
) -> tuple[KubeletConfig, Base, tuple[Notice, ...], Loaded | None]:
    """Read the settings for a machine; returns them with their base, what was odd, and what was read of a file.

    Raises:
        InputError: a file or a setting is wrong.
        StartError: the kubelet would not accept the file.
    """
    base: Base = "ideal"
    config = IDEAL
    notices: tuple[Notice, ...] = ()
    loaded: Loaded | None = None
    if given is not None:
        base, config = "kubelet", given
    elif request.config is not None or request.config_dir is not None or machine.kubelet is not None:
        from numalign.sources.kubelet import configuration as kubelet_file
        from numalign.sources.kubelet.fields import read_fields

        base = "kubelet"
        if request.config is not None:
            loaded = kubelet_file.load(request.config, request.config_dir, facts_of(machine, request), request.pool)
        elif request.config_dir is not None:
            raise InputError("--config-dir requires --kubelet-config; fix: add --kubelet-config")
        else:
            loaded = read_fields(machine.kubelet or {}, f"{origin}: kubelet")
        config, notices = loaded.config, loaded.warnings
        if loaded.ground is not None and request.config is not None:
            loaded = loaded._replace(ground=loaded.ground.beside(request.settings))
            notices = (*notices, *loaded.ground.notices(request.config)) if loaded.ground else notices
    if request.settings:
        from numalign.sources.kubelet.flags import apply_flags

        config = apply_flags(config, request.settings)
        notices = (*notices, *_ignored(config, request))
    return config, base, notices, loaded


def facts_of(machine: Machine, request: KubeletRequest) -> Facts:
    """Collect what a cloud's own part of the settings may depend on.

    Raises:
        InputError: the type of the instance, or a number, is unknown.
    """
    from numalign.analysis.config.instances import limits_of
    from numalign.analysis.config.system import Facts
    from numalign.sources.kubelet.flags import read_flags

    if request.instance is not None and limits_of(request.instance) is None:
        text = f"the network of {request.instance} is not in numalign's table; fix: --max-pods N"
        raise InputError(text, "--instance-type")
    version = request.version or machine.kubelet_version
    pods = read_flags({"max-pods": request.settings["max-pods"]}) if "max-pods" in request.settings else {}
    return Facts(
        cpus=machine.cpus.bit_count(),
        memory=machine.memory,
        version=parse_version(version) if version else None,
        instance=request.instance,
        pods=pods.get("max_pods"),
    )


def default_policy(on: LoadedSetup, request: KubeletRequest) -> tuple[Notice, ...]:
    """Say that no policy was named, and how to name one; empty: something named one."""
    named = request.config or request.config_dir or "topology-manager-policy" in request.settings
    if named or on.setup.machine.kubelet is not None or on.setup.config.topology_manager_policy != "none":
        return ()
    text = "no --policy given, so policy none aligns nothing"
    return (Notice("policy-default", text),)


def _ignored(config: KubeletConfig, request: KubeletRequest) -> Iterator[Notice]:
    """Say which flags have no effect beside the others."""
    flag = "topology-manager-policy-options"
    if config.topology_manager_policy == "none" and request.settings.get(flag):
        text = f"{request.settings[flag]} has no effect: policy none has no options"
        yield Notice("setting-ignored", text, f"--{flag}")
