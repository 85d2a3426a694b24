"""A pod template, whatever object it was found in: what reads like a Pod, its part and count, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.sources.pods.roles import Fields

PLACING_FIELDS: Final = ("nodeSelector", "affinity", "tolerations", "priorityClassName", "schedulerName")
"""Fields of a pod that say where it goes; objects of many kinds have them too, and hand them on to their pods."""


STEP_FIELDS: Final = (*PLACING_FIELDS, "hostNetwork")
"""Those that a workflow or an application of Spark hands on."""


class Place(NamedTuple):
    """Where a part of a template's pod stands in the object."""

    inside: str
    """A path in the pod: `spec.containers[0]`."""
    outside: str
    """The path of the same thing in the document."""
    exact: bool = True
    """Whether what lies below stands there, too; False: it was worked out, and only this place can be shown."""


class Template(NamedTuple):
    """A pod template."""

    path: str
    """Its place in the document."""
    manifest: Fields
    """What reads like a Pod: `metadata` (it may be missing) and `spec`."""
    role: str = ""
    """`worker`, `prefill-leader`, …; empty where the object has one template that plays no part."""
    wanted: int = 1
    """How many pods of it the object asks for."""
    places: tuple[Place, ...] = ()
    """Where the pod's parts stand; empty: all of it below `path`."""
    approximation: str = ""
    """What is not exactly what the cluster would make of it, as half a sentence."""

    def place(self, path: str) -> str:
        """Return the place in the document of a field of the pod."""
        if not self.places:
            return joined(self.path, path)
        for place in self.places:
            rest = _below(path, place.inside)
            if rest is not None:
                return joined(place.outside, rest) if place.exact else place.outside
        return self.path


def joined(path: str, rest: str) -> str:
    """Put two parts of a path together."""
    if not path or not rest or rest.startswith("["):
        return path + rest
    return f"{path}.{rest}"


def _below(path: str, above: str) -> str | None:
    """Return what is left of a path below another; None: it is not below it."""
    if not above:
        return path
    if path == above:
        return ""
    rest = path.removeprefix(above)
    if rest == path or rest[0] not in ".[":
        return None
    return rest.removeprefix(".")
