"""Questions about settings and manifests: `compare`, `lint` and `check_config` of the library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numalign.api.inputs import setup_of
from numalign.kubelet.config import KubeletConfig
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.render.json import Data
from numalign.results.compare import CompareResult as _CompareResult
from numalign.results.lint import LintResult as _LintResult
from numalign.results.node import ConfigCheckResult as _ConfigCheckResult
from numalign.tasks.loaded_pods import Terms


class CompareResult(_CompareResult):
    """The same pods under other settings and on other machines; `rows` has a row a variant."""

    def to_json(self) -> Data:
        """Write it as `numalign compare -o json` does."""
        from numalign.render.json.compare import compare_json

        return compare_json(self, self.notices)


def compare(
    machine: Machine | str | Sequence[Machine | str],
    pods: Iterable[Pod],
    config: KubeletConfig | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    kubelet: str | None = None,
    beside: Iterable[Pod] = (),
    started: bool = False,
    options: Iterable[str] = (),
) -> CompareResult:
    """Compare what pods get under every policy and scope, with options, and on several machines.

    Args:
        machine: one machine or several; see `admit`, as for the other arguments.
        pods: one set of pods; copies of it are admitted until one is refused.
        config: the kubelet's configuration; all but policy, scope and `options` stays.
        settings: single settings over it.
        kubelet: which kubelet.
        beside: pods that are there already.
        started: the containers of an admitted pod start before the next pod comes.
        options: policy options, each tried by itself.

    Raises:
        InputError: an argument is wrong.
    """
    from numalign.tasks.compare import compare as run

    machines: Sequence[Machine | str] = [machine] if isinstance(machine, Machine | str) else [*machine]
    setups = [setup_of(one, config, settings, kubelet) for one in machines]
    return CompareResult._make(run(setups, tuple(pods), Terms(tuple(beside), started), options=tuple(options)))


class LintResult(_LintResult):
    """What in each manifest keeps its pods from being aligned."""

    def to_json(self) -> Data:
        """Write it as `numalign lint -o json` does."""
        from numalign.render.json.lint import lint_json

        return lint_json(self, ())


def lint(*names: str, machine: Machine | str | None = None, ignore: Iterable[str] = ()) -> LintResult:
    """Tell what in manifests keeps pods from being aligned.

    Args:
        names: files and folders.
        machine: the machine to judge by, with an ideal kubelet; None: what depends on it is a note.
        ignore: codes to pass over.

    Raises:
        InputError: an input cannot be read, or an unknown code.
    """
    from numalign.sources.pods.manifest import read_pods
    from numalign.tasks.lint import lint as run

    on = None if machine is None else setup_of(machine)
    given = read_pods(names, unique=False)
    if given.broken:
        raise given.broken[0]
    return LintResult._make(run(given.sources, on=on, ignore=tuple(ignore)))


class ConfigCheckResult(_ConfigCheckResult):
    """A configuration, held against its machine: `report` says whether it starts, and what would."""

    def to_json(self) -> Data:
        """Write it as `numalign config check -o json` does."""
        from numalign.render.json.node import check_json

        return check_json(self, ())


def check_config(machine: Machine | str, config: KubeletConfig | None = None) -> ConfigCheckResult:
    """Tell whether the kubelet would start, or what stops it and the nearest configuration that starts.

    Args:
        machine: see `admit`.
        config: see `admit`.

    Raises:
        InputError: there is no such machine.
    """
    from numalign.tasks.config import check_config as run

    return ConfigCheckResult._make(run(setup_of(machine, config)))
