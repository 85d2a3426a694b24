"""`compare --fleet`: the same question on every node of a folder, the same bytes wherever it is worked on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests import copies
from tests.cli.running import ROOT, in_process
from tests.cli.test_state_commands import pod_file
from tests.node.fake_root import FakeContainer
from tests.node.test_verify import UIDS, running

pytestmark = [pytest.mark.usefixtures("imported_once"), copies.TOGETHER]

UPGRADE = ("--kubelet-version", "1.32,1.36")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two snapshots and a machine file."""
    folder = tmp_path_factory.mktemp("fleet")
    for name in ("worker-1", "worker-2"):
        root = tmp_path_factory.mktemp("roots") / name
        running(root, FakeContainer(UIDS["dpdk"], "fwd", "3-5,19", "0"))
        done = in_process("snapshot", folder / f"{name}.tar.xz", "--host-root", root)
        assert done.status == 0, done.err
    shutil.copy(ROOT / "machines" / "figure-1.yaml", folder)
    return folder


@pytest.mark.parametrize("question", [(), UPGRADE], ids=["policies", "releases"])
@pytest.mark.parametrize(
    "where",
    [
        pytest.param(("--jobs", "2"), id="two processes"),
        pytest.param(("--jobs", "8"), id="eight processes, of which only three find work"),
        pytest.param(("--engine", "dask", "--jobs", "2"), id="a Dask cluster of two workers"),
    ],
)
def test_the_bytes_are_the_same(question: tuple[str, ...], where: tuple[str, ...], fleet: Path, tmp_path: Path) -> None:
    asked = ("compare", pod_file(tmp_path, "next", 4), "--fleet", fleet, *question, "-o", "json")

    alone = in_process(*asked, "--jobs", "1")
    spread = in_process(*asked, *where)

    assert (spread.status, spread.out) == (alone.status, alone.out)
    assert alone.status == 0, alone.err


def test_every_node_is_asked_with_what_its_pods_hold(fleet: Path, tmp_path: Path) -> None:
    done = in_process("compare", pod_file(tmp_path, "next", 4), "--fleet", fleet, "--jobs", "1", "-o", "json")

    present = {row["machine"]: row for row in done.json["variants"] if row["present"]}
    assert set(present) == {"figure-1", "worker-1", "worker-2"}
    assert present["worker-1"]["pods"][0]["containers"][0]["cpus"] == "5-6,21-22"
    assert present["figure-1"]["pods"][0]["containers"][0]["cpus"] != "5-6,21-22"


def test_an_upgrade_is_reported_node_by_node(fleet: Path, tmp_path: Path) -> None:
    asked = ("compare", pod_file(tmp_path, "next", 4), "--fleet", fleet, "--jobs", "1", *UPGRADE)

    report, text = in_process(*asked, "-o", "json").json, in_process(*asked)

    assert report["kind"] == "UpgradeReport"
    assert [node["machine"] for node in report["nodes"]] == ["figure-1", "worker-1", "worker-2"]
    assert text.out.count("next: same decision") == 3


def test_a_node_in_use_is_asked_about_an_upgrade_with_its_pods(fleet: Path, tmp_path: Path) -> None:
    """Not an empty machine, and not this host; both releases get its pods anew, which is said."""
    done = in_process("compare", pod_file(tmp_path, "next", 4), "--node", fleet / "worker-1.tar.xz", *UPGRADE)

    assert done.status == 0, done.err
    assert done.out.startswith("worker-1 ")
    assert "4-5,20-21" in done.out
    assert "both releases admit its pods again" in done.err


def test_a_node_that_cannot_be_read_takes_nothing_from_the_others(fleet: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(fleet, tmp_path / "with-junk")
    (folder / "worker-0.tar").write_bytes(b"junk")
    asked = ("compare", pod_file(tmp_path, "next", 4), "--jobs", "1", "-o", "json")

    done = in_process(*asked, "--fleet", folder)

    assert done.status == 2
    assert f"{folder}/worker-0.tar: is not a readable tar archive" in done.err
    assert len({row["machine"] for row in json.loads(done.out)["variants"]}) == 3


@pytest.mark.parametrize(
    ("question", "verdict"),
    [((), " nodes can admit every pod"), (UPGRADE, "Nothing gets worse on ")],
    ids=["", "upgrade"],
)
def test_a_page_has_every_node_below_how_many_admit_the_pods(
    question: tuple[str, ...], verdict: str, fleet: Path, tmp_path: Path
) -> None:
    asked = ("compare", pod_file(tmp_path, "next", 4), "--fleet", fleet, "--jobs", "1", *question, "-o")
    page = in_process(*asked, "html").out
    assert verdict in page.partition("<h1>")[2].partition("</h1>")[0]
    assert page.count("<hr>") == len(list(fleet.iterdir())) - 1


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(("--node", "x"), "cannot be used with other flags that name a node", id="a node as well"),
        pytest.param(
            ("--machine", "figure-1"), "cannot be used with other flags that name a node", id="a machine as well"
        ),
        pytest.param(("-o", "svg"), "cannot be used with --slices or -o svg", id="a picture"),
        pytest.param(("--beside", "-"), "standard input is read once", id="pods there from standard input"),
    ],
)
def test_what_has_no_answer_is_refused(flags: tuple[str, ...], message: str, fleet: Path, tmp_path: Path) -> None:
    done = in_process("compare", pod_file(tmp_path, "next"), "--fleet", fleet, *flags)

    assert (done.status, done.out if "-o" not in flags else "") == (2, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("nowhere", "cannot be read", id="no folder"),
        pytest.param("empty", "no file that ends in", id="no node"),
    ],
)
def test_a_folder_without_nodes_is_told(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    done = in_process("compare", pod_file(tmp_path, "next"), "--fleet", tmp_path / name)

    assert done.status == 2
    assert message in done.err


@pytest.mark.parametrize(("versions", "rejected"), [("1.35,1.36", {"g4gpu", "initapp"}), ("1.36,1.37", set())])
def test_an_upgrade_restarts_the_kubelet_beside_what_the_pods_of_the_node_hold(
    versions: str, rejected: set[str], tmp_path: Path
) -> None:
    node = ROOT / "tests" / "live" / "rt-2n-snn-full" / "full.snapshot.tar.xz"
    pod = pod_file(tmp_path, "next", 2)

    done = in_process("compare", pod, "--node", node, "--kubelet-version", versions, "-o", "json")

    (found,) = done.json["nodes"]
    assert {one["name"].split("/")[1].removesuffix("-node") for one in found["restart"]["rejected"]} == rejected
    assert done.status == int(bool(rejected))
