"""What files hold of Dynamic Resource Allocation: objects, and where claims and templates come from."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.dra.values import Claim, DeviceClass, Node, Slice, TaintRule
from numalign.values import NamedTuple


class Placed(NamedTuple):
    """A claim or template and where it comes from."""

    claim: Claim
    origin: str
    """`file:line`."""
    annotations: Mapping[str, object] = {}
    """Its own; of a template also those that its claims get."""

    @property
    def file(self) -> str:
        """The file alone."""
        return self.origin.rpartition(":")[0]


class ClaimObjects(NamedTuple):
    """What files hold of Dynamic Resource Allocation."""

    slices: tuple[Slice, ...] = ()
    classes: Mapping[str, DeviceClass] = {}
    claims: Mapping[tuple[str, str], Placed] = {}
    """(namespace, name) -> claim."""
    templates: Mapping[tuple[str, str], Placed] = {}
    nodes: tuple[Node, ...] = ()
    again: Mapping[tuple[str, tuple[str, str]], tuple[Placed, ...]] = {}
    """(kind, (namespace, name)) -> claims and templates of further files, where files are ways to do the same."""
    taint_rules: tuple[TaintRule, ...] = ()

    def tainted(self) -> ClaimObjects:
        """Put the taints of the rules on the devices that they name (docs/rules/kubelet-1.37.md 11)."""
        if not self.taint_rules:
            return self
        return self._replace(slices=tuple([self._tainted(one) for one in self.slices]), taint_rules=())

    def _tainted(self, slice_: Slice) -> Slice:
        devices = []
        for device in slice_.devices:
            here = (slice_.driver, slice_.pool, device.name)
            taints = [rule.taint for rule in self.taint_rules if rule.names(*here)]
            devices.append(device._replace(taints=(*device.taints, *taints)))
        return slice_._replace(devices=tuple(devices))

    def near(self, file: str) -> ClaimObjects:
        """Of claims that several files have, take those of a file, else of its folder, else the first."""
        if not self.again:
            return self
        claims, templates = dict(self.claims), dict(self.templates)
        for (kind, key), further in self.again.items():
            known = claims if kind == "ResourceClaim" else templates
            known[key] = min(
                (known[key], *further), key=lambda one: (one.file != file, _folder(one.file) != _folder(file))
            )
        return self._replace(claims=claims, templates=templates, again={})

    def over(self, earlier: ClaimObjects) -> ClaimObjects:
        """Put what was given here over what a dump has."""
        return self._replace(
            slices=(*earlier.slices, *self.slices),
            classes={**earlier.classes, **self.classes},
            claims={**earlier.claims, **self.claims},
            templates={**earlier.templates, **self.templates},
            nodes=(*earlier.nodes, *self.nodes),
            taint_rules=(*earlier.taint_rules, *self.taint_rules),
        )


def _folder(file: str) -> str:
    return file.rpartition("/")[0]
