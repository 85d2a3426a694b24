"""The heat map of a cluster: which colour a NUMA node has."""

from __future__ import annotations

import pytest

from numalign.render.picture import cluster
from numalign.results.capacity import ZoneRoom


@pytest.mark.parametrize(
    ("copies", "most", "expected"),
    [
        (0, 0, cluster.NEVER_FITS),
        (0, 3, cluster.COLOURS[0]),
        (1, 100, cluster.COLOURS[1]),
        (1, 2, cluster.COLOURS[2]),
        (99, 100, cluster.COLOURS[4]),
        (2, 2, cluster.COLOURS[5]),
    ],
    ids=[
        "it never holds one",
        "it is too full",
        "the first of very many",
        "half",
        "all but one",
        "as many as when empty",
    ],
)
def test_the_colour_says_how_many_of_the_copies_fit(copies: int, most: int, expected: str) -> None:
    assert cluster.colour(ZoneRoom(0, {"cpu": 1}, {"cpu": 8}, copies, most)) == expected


def test_a_numa_node_of_which_nothing_is_asked_is_not_called_full() -> None:
    assert cluster.colour(ZoneRoom(0, {}, {}, 0, 0)) == cluster.UNSEEN
