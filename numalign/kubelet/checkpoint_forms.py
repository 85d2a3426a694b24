"""The forms of the kubelet's checkpoint files: the one a kubelet takes, and that of 1.37, which has its content twice.

docs/rules/kubelet-files.md 28b, kubelet-1.37.md 6.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Final, TypeVar

from numalign.kubelet.checkpoint_shape import (
    CHECKSUM,
    TEXT,
    CheckpointError,
    Field,
    Record,
    Shape,
    checksum,
    fnv1a,
    read_shape,
    write,
)
from numalign.values import NamedTuple

_Form = TypeVar("_Form")

CORRUPT: Final = "checkpoint is corrupted"
"""The kubelet's text for a wrong checksum."""


def read_first(
    text: str,
    tried: Iterable[tuple[_Form, Shape, str]],
    unchecked: Container[_Form],
    *,
    keys: bool = False,
) -> tuple[_Form, Record]:
    """Read a file in the first form that a kubelet takes (28b).

    Args:
        text: the file.
        tried: the forms in order, each with its shape and the record's name in complaints.
        unchecked: forms in which a checksum of 0 is taken for "none", and the content believed.
        keys: see `read_shape`.

    Raises:
        CheckpointError: no form fits; the complaint about the last one.
    """
    error = CheckpointError(CORRUPT)
    for form, shape, name in tried:
        try:
            data = read_shape(text, shape, name, keys=keys)
        except CheckpointError as problem:
            error = problem
            continue
        if (data["checksum"] == 0 and form in unchecked) or data["checksum"] == checksum(data, shape):
            return form, data
        error = CheckpointError(CORRUPT)
    raise error


DATA: Final = (Field("Data", "data", TEXT), Field("DataChecksum", "dataChecksum", CHECKSUM))
"""What files of 1.37 have behind an older form: their content a second time, as text."""
SINCE_DATA: Final = (1, 37)
"""The release that writes it, and from which on it is what counts."""


class Data(NamedTuple):
    """The content of a file as text."""

    text: str
    checksum: int
    """As in the file."""

    @property
    def right(self) -> int:
        """The checksum that the text has."""
        return fnv1a(b"(string)" + self.text.encode("utf-8", "surrogatepass"))


def read_data(text: str) -> Data | None:
    """Read `data` of a file of 1.37; None: it has none.

    Raises:
        CheckpointError: no JSON, or of another shape.
    """
    found = read_shape(text, Shape("state.Checkpoint", "record", fields=DATA))
    return Data(found["data"], found["dataChecksum"]) if found["data"] or found["dataChecksum"] else None


def checked_data(text: str) -> Data | None:
    """Read `data` as a kubelet of 1.37 does, which knows no way back where its checksum is wrong.

    Raises:
        CheckpointError: that kubelet does not take the file.
    """
    data = read_data(text)
    if data is not None and data.checksum != data.right:
        raise CheckpointError(CORRUPT)
    return data


def data_shape(shape: Shape) -> Shape:
    """Return the shape of what `data` holds: that of the older form with pods, without its checksum."""
    return shape._replace(fields=tuple([field for field in shape.fields if field.key != "checksum"]))


def write_in(form: str, value: Record, shapes: Mapping[str, Shape]) -> str:
    """Write a record as the kubelet does, with the checksum that it has: in a form, or as 1.37 does `with data`.

    That is in the form that older kubelets read, and beside it, with pod entries, as text.
    """
    if form != "with data":
        return write(value, shapes[form])
    older, data = shapes["current"], write(value, data_shape(shapes["with podEntries"]))
    both = older._replace(fields=(*older.fields, *DATA))
    return write({**value, "checksum": checksum(value, older), "data": data, "dataChecksum": value["checksum"]}, both)


def checksum_in(form: str, value: Record, shapes: Mapping[str, Shape]) -> int:
    """Compute the right checksum of a record in a form; `with data` it is that of the text."""
    if form != "with data":
        return checksum(value, shapes[form])
    return Data(write(value, data_shape(shapes["with podEntries"])), 0).right
