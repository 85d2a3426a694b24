"""The text form of Prometheus: what a parser takes, whatever a label holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from numalign.render.prometheus import Family, Sample, exposition, single


def test_a_family_has_its_help_its_type_and_a_line_a_sample() -> None:
    buckets = [Sample(1, {"le": "0.5"}, "_bucket"), Sample("0.250", suffix="_sum"), Sample(1, suffix="_count")]
    families = [Family("a_seconds", "histogram", "Time.", buckets), single("b", "gauge", "Some.", 0)]

    assert exposition(families).splitlines() == [
        "# HELP a_seconds Time.",
        "# TYPE a_seconds histogram",
        'a_seconds_bucket{le="0.5"} 1',
        "a_seconds_sum 0.250",
        "a_seconds_count 1",
        "# HELP b Some.",
        "# TYPE b gauge",
        "b 0",
    ]


@given(st.text())
def test_no_label_breaks_its_line(text: str) -> None:
    written = exposition([Family("a", "gauge", "Some.", [Sample(1, {"pod": text})])])
    (line,) = written.splitlines()[2:]

    assert line.startswith('a{pod="')
    assert line.endswith('"} 1')
    inner = line.removeprefix('a{pod="').removesuffix('"} 1')
    assert '"' not in inner.replace("\\\\", "").replace('\\"', "")
    written.encode()
