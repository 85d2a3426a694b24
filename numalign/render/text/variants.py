"""Which variants of a comparison something is said of, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.text.amounts import listed
from numalign.results.compare import ComparedRow

if TYPE_CHECKING:
    pass


MAX_HINTS_SHOWN = 3
"""How many different hints of a set of pods a row shows; `wide` shows all."""


def variant_names(rows: Sequence[ComparedRow], everything: Sequence[ComparedRow]) -> str:
    """Name variants, those of a machine and an option together; a policy alone stands for all its scopes."""
    if len(rows) == len(everything):
        return "every variant"
    several = len({one.setup.machine.name for one in everything}) > 1
    names = []
    for machine, option in dict.fromkeys((one.setup.machine.name, one.option) for one in rows):
        there = [one for one in everything if (one.setup.machine.name, one.option) == (machine, option)]
        where = f" with {option}" * bool(option) + f" on {machine}" * several
        names.append(f"{_policies([one for one in rows if one in there], there)}{where}")
    return "; ".join(names)


def _policies(rows: Sequence[ComparedRow], there: Sequence[ComparedRow]) -> str:
    if len(rows) == len(there):
        return "every policy"
    named = [one.setup.config for one in rows]
    names = []
    for policy in dict.fromkeys(config.topology_manager_policy for config in named):
        scopes = [one.topology_manager_scope for one in named if one.topology_manager_policy == policy]
        all_scopes = sum(one.setup.config.topology_manager_policy == policy for one in there)
        names.append(policy if len(scopes) == all_scopes else f"{policy} in scope {scopes[0]}")
    return listed(names)
