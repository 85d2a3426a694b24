"""Metrics, alerts and dashboard of `deploy/verify`: they know the same names, and promtool takes them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import documents
from tests.cli.running import ROOT, in_process

DEPLOY = ROOT / "deploy/verify"
ALERTS = DEPLOY / "alerts.yaml"
NODES = sorted((ROOT / "tests/live").glob("vm-*/*.snapshot.tar.xz"))
promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is missing: apt-get install prometheus"
)


def check(*arguments: str | Path, given: str = "") -> str:
    done = subprocess.run(["promtool", *arguments], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@cache
def metrics(node: Path) -> str:
    return in_process("verify", "--node", node, "-o", "prometheus").out


def alerts() -> dict[str, dict[str, Any]]:
    (group,) = documents.one(ALERTS.read_text())["groups"]
    return {one["alert"]: one for one in group["rules"]}


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DEPLOY / "dashboard.json").read_text())["panels"]
    return found


def expressions() -> list[str]:
    of_alerts = [one["expr"] for one in alerts().values()]
    return of_alerts + [target["expr"] for panel in panels() for target in panel["targets"]]


def test_alerts_and_dashboard_ask_for_metrics_that_are_written() -> None:
    written = set(re.findall(r"^# TYPE (\S+)", metrics(NODES[0]), re.M))
    asked = {name for one in expressions() for name in re.findall(r"numalign_\w+", one)}

    assert asked - written == set()
    assert written - asked == {"numalign_verify_errors_total"}


def test_the_operator_gets_the_same_alerts() -> None:
    rule = documents.one((DEPLOY / "prometheusrule.yaml").read_text())

    assert (rule["apiVersion"], rule["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert rule["spec"] == documents.one(ALERTS.read_text())


def test_panels_do_not_cover_each_other_and_have_numbers_of_their_own() -> None:
    places = [
        (column, row)
        for panel in panels()
        for column in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for row in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(places) == len(set(places))
    assert max(column for column, _ in places) == 23
    assert len({panel["id"] for panel in panels()}) == len(panels())


@promtool
@pytest.mark.parametrize("node", NODES, ids=lambda path: f"{path.parent.name}-{path.name.partition('.')[0]}")
def test_metrics_of_real_nodes_are_accepted(node: Path) -> None:
    assert check("check", "metrics", given=metrics(node)) == ""


@promtool
def test_rules_and_the_questions_of_the_dashboard_are_accepted(tmp_path: Path) -> None:
    asked = [{"record": f"a:b{number}", "expr": text} for number, text in enumerate(expressions())]
    file = tmp_path / "asked.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": asked}]}).replace("$instance", ".*"))

    assert f"{len(alerts())} rules found" in check("check", "rules", ALERTS)
    check("check", "rules", file)


CONTAINER = 'instance="n1",namespace="a",pod="p",container="c"'
FIRING: dict[str, dict[str, str]] = {
    "NumalignContainerDrifted": {f"numalign_container_drifted{{{CONTAINER}}}": "1x90"},
    "NumalignContainerNotAligned": {
        f'numalign_container_aligned{{boundary="numa_node",{CONTAINER}}}': "0x90",
        f"numalign_container_drifted{{{CONTAINER}}}": "0x90",
    },
    "NumalignMemoryRemote": {
        f"numalign_container_remote_memory_bytes{{{CONTAINER}}}": "100000000x90",
        f'numalign_container_memory_bytes{{numa_node="0",{CONTAINER}}}': "1800000000x90",
        f'numalign_container_memory_bytes{{numa_node="1",{CONTAINER}}}': "100000000x90",
    },
    "NumalignIntruder": {f"numalign_container_intruders{{{CONTAINER}}}": "2x90"},
    "NumalignDevicesStranded": {'numalign_stranded_devices{instance="n1",numa_node="0",resource="gpu"}': "1x90"},
    "NumalignRestartRejectsPods": {'numalign_restart_rejected_pods{instance="n1"}': "3x90"},
    "NumalignKubeletWouldNotRestart": {'numalign_kubelet_would_restart{instance="n1"}': "0x90"},
    "NumalignReadingFails": {'numalign_verify_success{instance="n1"}': "0x90"},
    "NumalignReadingOld": {'numalign_verify_timestamp_seconds{instance="n1"}': "0x90"},
}
"""Alert -> series, a value a minute, by which it fires."""
QUIET: dict[str, str] = {
    f"numalign_container_drifted{{{CONTAINER}}}": "0x90",
    f'numalign_container_aligned{{boundary="numa_node",{CONTAINER}}}': "1x90",
    f"numalign_container_remote_memory_bytes{{{CONTAINER}}}": "100000000x90",  # less than 5 %
    f'numalign_container_memory_bytes{{numa_node="0",{CONTAINER}}}': "9000000000x90",
    f"numalign_container_intruders{{{CONTAINER}}}": "0x90",
    'numalign_stranded_devices{instance="n1",numa_node="0",resource="gpu"}': "0x90",
    'numalign_restart_rejected_pods{instance="n1"}': "0x90",
    'numalign_kubelet_would_restart{instance="n1"}': "1x90",
    'numalign_verify_success{instance="n1"}': "1x90",
    'numalign_verify_timestamp_seconds{instance="n1"}': "0+60x90",
}


def trial(name: str, series: dict[str, str], fires: bool) -> dict[str, object]:
    return {
        "interval": "1m",
        "input_series": [{"series": key, "values": value} for key, value in series.items()],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}})',
                "eval_time": "75m",
                "exp_samples": [{"labels": "{}", "value": 1}] if fires else [],
            }
        ],
    }


@promtool
def test_each_alert_fires_when_it_should_and_on_a_healthy_node_none_does(tmp_path: Path) -> None:
    assert set(FIRING) == set(alerts())
    longer = {name: {key: value.replace("x90", "x90") for key, value in one.items()} for name, one in FIRING.items()}
    tests = [trial(name, one, fires=True) for name, one in longer.items()]
    tests += [trial(name, QUIET, fires=False) for name in FIRING]
    file = tmp_path / "tests.yaml"
    whole = {"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}
    file.write_text(yaml.safe_dump(whole))

    assert "SUCCESS" in check("test", "rules", file)
