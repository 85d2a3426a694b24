"""Objects of drawn nodes, told as they were: as each exporter writes them, what is odd, and the machine behind them.

docs/rules/podresources.md 18 to 30. Rules have their tables beside this; it holds that nothing of it changes unseen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from numalign.errors import InputError, StartError
from numalign.kubelet import admission
from numalign.kubelet.setup import Setup
from numalign.scheduler.nrt.differences import differences
from numalign.scheduler.nrt.export import ExportOptions, Like, export
from numalign.scheduler.nrt.findings import findings
from numalign.scheduler.nrt.machine import Assumed, machine_of, without_added
from numalign.scheduler.nrt.occupied import occupied
from numalign.scheduler.nrt.value import MAX_NODES, NodeResourceTopology, manifest
from tests import recorded
from tests.dice import Dice
from tests.scheduler import drawn

FILE = Path(__file__).parent / "recorded_objects.jsonl.gz"
CASES = 200
PLAIN = ExportOptions(fingerprint=False)


def test_objects_are_told_as_they_were() -> None:
    recorded.compare(FILE, map(told, range(CASES)))


def told(number: int) -> dict[str, Any]:
    """Write the object of a drawn node in all ways, and read the one that is published of it."""
    one = drawn.dice(number, "objects")
    node = drawn.occupied(one, drawn.bare(one, "n"), [drawn.pod(one, f"p{place}") for place in range(4)])
    assert node.session is not None
    written: list[Like] = list(get_args(Like))
    ways = [ExportOptions(like, one.flag(), one.flag(), one.flag()) for like in written]
    found = drawn.object_of(one, node)
    return {
        "written": [manifest(export(node.session, "n", options)) for options in ways],
        "read": None if found is None else read(one, found),
        "strange": read(one, strange(one, export(node.session, "n", one.pick(ways)))),
        "differences": None if found is None else list(differences(found, export(node.session, "n"))),
    }


def strange(one: Dice, found: NodeResourceTopology) -> NodeResourceTopology:
    """Have an object say less, or odd things, in every zone."""
    zones = [drawn.odd(one, zone) for zone in found.zones]
    attributes = [pair for pair in found.attributes if one.below(4)] + [
        (MAX_NODES, one.pick(("2", "8", "12", "x")))
    ] * one.below(2)
    return found._replace(zones=tuple(zones), attributes=tuple(attributes))


def read(one: Dice, found: NodeResourceTopology) -> dict[str, Any]:
    """Make a machine of an object, start its kubelet with what is taken, and write its object again."""
    odd = list(findings(found))
    try:
        assumed = machine_of(found, cpus=one.pick((None, 7)), memory=one.pick((None, 100 << 30)))
        session = admission.open_session(Setup(assumed.machine, assumed.config, "ideal"), fit_check=False)
    except (InputError, StartError) as error:
        return {"odd": odd, "error": str(error)}
    again = export(session._replace(state=occupied(session.node, assumed.used)), "n", PLAIN)
    return {"odd": odd, "machine": of_machine(assumed), "again": manifest(without_added(again, found))}


def of_machine(assumed: Assumed) -> dict[str, Any]:
    """Tell what an object says of a machine; what is left at its default is left out."""
    machine = {name: value for name, value in assumed.machine._asdict().items() if value}
    config = {name: value for name, value in assumed.config._asdict().items() if value}
    return {"machine": {**machine, "node": None}, "config": config, "used": assumed.used, "notes": assumed.notes}
