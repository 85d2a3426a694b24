"""The state files of CPU and Memory Manager: their forms, and that of 1.37, which has its content twice.

docs/rules/kubelet-files.md 28b, kubelet-1.37.md 6.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Final, Generic, Literal, Protocol, Self, TypeVar

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

Form = Literal["first generation", "current", "with podEntries", "with data"]
CORRUPT: Final = "checkpoint is corrupted"
"""The kubelet's text for a wrong checksum."""
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


def read_data(text: str, release: tuple[int, int]) -> Data | None:
    """Read `data` of a file of 1.37; None: it has none, or a kubelet of that release does not look.

    Raises:
        CheckpointError: no JSON, or of another shape.
    """
    if release < SINCE_DATA:
        return None
    found = read_shape(text, Shape("state.Checkpoint", "record", fields=DATA))
    return Data(found["data"], found["dataChecksum"]) if found["data"] or found["dataChecksum"] else None


class Content(Protocol):
    """What a state file says."""

    @property
    def form(self) -> Form:
        """The form in which it says so."""

    def _replace(self, *, checksum: int) -> Self: ...


Said = TypeVar("Said", bound=Content)


class StateFile(NamedTuple, Generic[Said]):
    """A file that has had several forms."""

    shapes: Mapping[Form, Shape]
    """Form -> its shape, that of `current` first; `with data` has none of its own."""
    said: Callable[[Record, Form], Said]
    """What a record of a form says."""
    record: Callable[[Said], Record]
    """The record that says so."""

    def read(
        self,
        text: str,
        release: tuple[int, int],
        tried: Iterable[tuple[Form, str]],
        unchecked: Container[Form],
        *,
        keys: bool = False,
    ) -> Said:
        """Read the file in the first form that a kubelet takes (28b).

        Args:
            text: the file.
            release: the kubelet's; 1.37 knows no way back where the checksum of `data` is wrong.
            tried: the forms in order, each with the record's name in complaints.
            unchecked: forms in which a checksum of 0 is taken for "none", and the content believed.
            keys: see `read_shape`.

        Raises:
            CheckpointError: that kubelet does not take the file; the complaint about the last form.
        """
        data = read_data(text, release)
        if data is not None:
            if data.checksum != data.right:
                raise CheckpointError(CORRUPT)
            return self._of_data(data)
        error = CheckpointError(CORRUPT)
        for form, name in tried:
            try:
                found = read_shape(text, self.shapes[form], name, keys=keys)
            except CheckpointError as problem:
                error = problem
                continue
            if (found["checksum"] == 0 and form in unchecked) or found["checksum"] == checksum(
                found, self.shapes[form]
            ):
                return self.said(found, form)
            error = CheckpointError(CORRUPT)
        raise error

    def inspect(self, text: str, release: tuple[int, int] = SINCE_DATA) -> tuple[Said, Mapping[Form, int]]:
        """Read the file as a tool does: its content, whatever the checksum, and the checksum each fitting form has.

        The form is the one whose checksum is right, else the newest that fits.

        Args:
            text: the file.
            release: whose eyes see it: kubelets before 1.37 do not look at `data`.

        Raises:
            CheckpointError: no form fits; the text is a complaint about the current one.
        """
        data = read_data(text, release)
        if data is not None:
            return self._of_data(data), {"with data": data.right}
        sums: dict[Form, int] = {}
        found: dict[Form, Record] = {}
        errors: list[CheckpointError] = []
        for form, shape in self.shapes.items():
            try:
                found[form] = read_shape(text, shape)
                sums[form] = checksum(found[form], shape)
            except CheckpointError as error:
                errors.append(error)
        if not found:
            raise errors[0]
        stored = next(iter(found.values()))["checksum"]
        right = [form for form in found if sums[form] == stored]
        has_pods = bool(found.get("with podEntries", {}).get("podEntries"))
        best = right[0] if right else "with podEntries" if has_pods else next(iter(found))
        return self.said(found[best], best), sums

    def write(self, said: Said) -> str:
        """Write the file as the kubelet does, with the checksum that the value has.

        1.37 writes the form that older kubelets read, and beside it, with pod entries, the content as text.
        """
        record = self.record(said)
        if said.form != "with data":
            return write(record, self.shapes[said.form])
        older, data = self.shapes["current"], write(record, self._inner)
        both = older._replace(fields=(*older.fields, *DATA))
        known = {"checksum": checksum(record, older), "data": data, "dataChecksum": record["checksum"]}
        return write({**record, **known}, both)

    def sealed(self, said: Said) -> Said:
        """Return the same content with its right checksum; `with data` it is that of the text."""
        record = self.record(said)
        if said.form == "with data":
            return said._replace(checksum=Data(write(record, self._inner), 0).right)
        return said._replace(checksum=checksum(record, self.shapes[said.form]))

    @property
    def _inner(self) -> Shape:
        """The shape of what `data` holds: that of the older form with pods, without its checksum."""
        shape = self.shapes["with podEntries"]
        return shape._replace(fields=tuple([field for field in shape.fields if field.key != "checksum"]))

    def _of_data(self, data: Data) -> Said:
        return self.said({**read_shape(data.text, self._inner), "checksum": data.checksum}, "with data")
