"""What stops a kubelet after an upgrade that takes the same settings today: told before it.

docs/rules/kubelet-1.37.md 2, 3.6 and 12. Gates are the usual reason: the kubelet does not report them but crashes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from numalign.analysis.config.repair import start_error
from numalign.errors import Notice
from numalign.kubelet.releases import EXACT, PUBLISHED
from numalign.kubelet.releases.release import Kubelet, Version, version_text
from numalign.kubelet.releases.table import known_kubelets
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.check import CADVISOR_FLAGS
from numalign.kubelet.start.feature_gates import bad_gates, unmet_gates
from numalign.kubelet.start.gate_table import gone_in

CODE: Final = "upgrade"

_WITHOUT_CADVISOR: Final[Version] = (1, 37)
_NEXT: Final[Version] = (PUBLISHED[0], PUBLISHED[1] + 1)


def upgrade_notices(setup: Setup, flags: Collection[str]) -> Iterator[Notice]:
    """Warn of what stops the next releases, of a configuration that starts today.

    Args:
        setup: the machine, the settings, the kubelet of today.
        flags: names of the flags on its command line, without dashes.
    """
    now, given = setup.kubelet, setup.config.feature_gates
    gone = sorted(CADVISOR_FLAGS.intersection(flags))
    if gone:
        names = ", ".join(f"--{name}" for name in gone)
        text = f"kubelet {version_text(_WITHOUT_CADVISOR)} does not start with {names}; fix: remove the flags"
        yield Notice(CODE, text, "kubelet's command line")
    if now.version < EXACT or start_error(setup) is not None:
        return
    for newer in known_kubelets():
        if newer.version > now.version and (error := start_error(setup._replace(kubelet=newer))) is not None:
            yield Notice(CODE, f"kubelet {version_text(newer.version)} {_what(newer, setup, error)}", "featureGates")
            return
    for name in sorted(given):
        if gone_in(name, _NEXT):
            text = f"kubelet {version_text(_NEXT)} will not know {name} and crash; fix: remove it before that upgrade"
            yield Notice(CODE, text, "featureGates")


def _what(newer: Kubelet, setup: Setup, error: str) -> str:
    """Say what a release does with the settings, and what helps."""
    given = setup.config.feature_gates
    bad, unmet = bad_gates(newer, given), unmet_gates(newer, given)
    if bad:
        return f"crashes at its start with {', '.join(bad)} in featureGates; fix: remove it"
    if unmet:
        needed = sorted({name for off in unmet.values() for name in off})
        names = ", ".join(unmet)
        return f"crashes at its start: {names} need {', '.join(needed)}; fix: also set these to false"
    return f"does not start: {error}"
