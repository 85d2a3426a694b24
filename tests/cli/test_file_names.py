"""Names that no file can have, for every flag and argument that takes a file: a line and status 2."""

from __future__ import annotations

import pytest

from tests.cli.running import PODS, in_process

POD = str(PODS / "burstable.yaml")
PLACES: tuple[tuple[str, ...], ...] = (
    ("admit",),
    ("admit", POD, "--beside"),
    ("admit", POD, "--node"),
    ("admit", POD, "-m"),
    ("admit", POD, "--state"),
    ("admit", POD, "--kubelet-config"),
    ("dra", "check", POD, "--slices"),
    ("schedule", POD, "--cluster"),
    ("lint",),
    ("lint", POD, "--baseline"),
    ("test",),
    ("verify", "--node"),
    ("nrt", "check"),
    ("config", "check"),
)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"], ids=["a NUL", "half a surrogate pair"])
@pytest.mark.parametrize("place", PLACES, ids=lambda place: " ".join(place).replace(POD, "POD"))
def test_a_name_that_no_file_can_have_is_wrong_input(place: tuple[str, ...], name: str) -> None:
    done = in_process(*place, name)
    assert done.status == 2, done.err
    assert "bug" not in done.err
