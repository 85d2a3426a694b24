"""`numalign admit` as people and scripts use it: inputs, the base, formats, and what is said beside the result."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.running import ENVIRONMENT, PODS, ROOT, Done, command, in_process, numalign, one_line

ANNOUNCEMENT = PODS / "announcement.yaml"
SINGLE = ("-m", "figure-1", "--policy", "single-numa-node")


def pod(name: str, cpu: object = 2, **more: Any) -> dict[str, Any]:
    resources = {"cpu": cpu, "memory": "1Gi", **more}
    container = {"name": "app", "image": "x", "resources": {"limits": resources}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


def written(*documents: Any) -> bytes:
    return b"---\n".join(yaml.safe_dump(document).encode() for document in documents)


def admit(*documents: Any, flags: tuple[str | Path, ...] = SINGLE) -> Done:
    return in_process("admit", "-", *flags, "-o", "json", stdin=written(*documents))


def admitted(done: Done) -> dict[str, bool]:
    return {one["name"]: one["admit"] for one in done.json["pods"]}


class TestInputs:
    def test_standard_input_several_documents_and_lists(self) -> None:
        done = admit(pod("a"), {"kind": "List", "items": [pod("b"), pod("c")]}, pod("d"))
        assert admitted(done) == {"a": True, "b": True, "c": True, "d": True}

    def test_json_is_read_like_yaml(self) -> None:
        done = in_process("admit", "-", *SINGLE, "-o", "name", stdin=json.dumps(pod("a")).encode())
        assert (done.status, done.out) == (0, "pod/a\n")

    def test_a_folder_is_read_by_name_and_other_files_are_passed_over(self, tmp_path: Path) -> None:
        (tmp_path / "b.yml").write_bytes(written(pod("b")))
        (tmp_path / "a.json").write_text(json.dumps(pod("a")))
        (tmp_path / "README").write_text("not a manifest: [")
        done = in_process("admit", tmp_path, *SINGLE, "-o", "name")
        assert (done.status, done.out) == (0, "pod/a\npod/b\n")

    def test_a_pipe_is_a_file(self) -> None:
        words = " ".join(f"'{word}'" for word in command("admit", "--policy", "none"))
        script = f"{words} <(cat '{PODS}/burstable.yaml') -o name --machine <(cat '{ROOT}/machines/figure-1.yaml')"
        done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "pod/burstable\n", "")

    def test_dash_f_is_the_same_as_pod(self) -> None:
        plain, flagged = (in_process("admit", *words, ANNOUNCEMENT, *SINGLE) for words in ((), ("-f",)))
        assert plain == flagged

    @pytest.mark.parametrize("dress", [lambda text: text.replace(b"\n", b"\r\n"), lambda text: b"\xef\xbb\xbf" + text])
    def test_windows_line_ends_and_a_byte_order_mark_are_fine(self, dress: Any) -> None:
        done = in_process("admit", "-", *SINGLE, "-o", "name", stdin=dress(written(pod("a"))))
        assert (done.status, done.out) == (0, "pod/a\n")

    def test_documents_without_a_pod_are_counted(self) -> None:
        done = admit({"kind": "Service"}, pod("a"), {"kind": "ConfigMap"})
        assert done.status == 0
        assert one_line(done.err) == "note: skipped 2 documents without a pod: ConfigMap, Service"
        assert done.json["warnings"] == [
            {"code": "no-pod", "message": "skipped 2 documents without a pod: ConfigMap, Service", "path": ""}
        ]

    def test_one_replica_is_tried_unless_told_otherwise(self) -> None:
        deployment = {
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"replicas": 3, "template": {"spec": pod("x")["spec"]}},
        }
        one, five = admit(deployment), admit(deployment, flags=(*SINGLE, "--replicas", "5"))
        assert admitted(one) == {"web-0": True}
        assert "note: Deployment web: 1 of 3 replicas is tried" in one.err
        assert admitted(five) == {"web-0": True, "web-1": True, "web-2": True, "web-3": True, "web-4": False}
        assert "replica" not in five.err


BAD = {
    "empty": (b"", "standard input: no pod found: no document is a Pod or has a pod template"),
    "no pod": (
        b"kind: Service\n",
        "standard input: no pod found, only Service; fix: name a file with a Pod or a pod template",
    ),
    "not YAML": (
        b"a: [",
        (
            "standard input:2: not YAML: did not find expected node content while parsing a flow node that begins in "
            "line 2; fix: correct the YAML there"
        ),
    ),
    "half a JSON file": (json.dumps(pod("a")).encode()[:150], None),
    "an alias bomb": (
        b"a: &a [1,1,1,1,1,1,1,1,1]\n"
        + b"".join(b"%c: &%c [%s]\n" % (x + 1, x + 1, b",".join([b"*%c" % x] * 9)) for x in range(97, 110)),
        "standard input:6: the aliases stand for more than 200000 values",
    ),
    "100,000 levels of YAML": (b"- " * 100_000, "standard input:1: nested deeper than 200 levels"),
    "100,000 open brackets": (b"[" * 100_000, "standard input:1: nested deeper than 200 levels"),
    "100,000 levels of JSON": (
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "standard input:1: nested deeper than 200 levels",
    ),
    "a key twice in JSON": (b'{"kind": "Pod",\n"kind": "Pod"}', None),
    "over 64 MiB": (b"a: " + b"x" * (64 << 20), "standard input: a document larger than 64 MiB"),
    "a NUL": (b"kind: P\0od\n", "standard input:1: binary data, not text (character U+0000)"),
    "any bytes": (bytes(range(256)), "standard input:2: not UTF-8 text (byte 0x80 at offset 128)"),
    "UTF-16": ("kind: Pod\n".encode("utf-16"), "standard input:1: not UTF-8 text (byte 0xff at offset 0)"),
    "minus one device": (written(pod("a", **{"example.com/dev": -1})), None),
    "half a device": (written(pod("a", **{"example.com/dev": 0.5})), None),
    "not a quantity: ": (written(pod("a", cpu="two")), None),
    "a boolean for an amount": (written(pod("a")).replace(b"cpu: 2", b"cpu: no"), None),
    "a request above its limit": (
        b"""kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: app
    image: x
    resources:
      requests: {cpu: 3}
      limits: {cpu: 2}
""",
        None,
    ),
    "the same name twice": (written(pod("a"), pod("a")), None),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_line_and_2(case: str) -> None:
    text, expected = BAD[case]
    done = in_process("admit", "-", *SINGLE, stdin=text)
    assert (done.status, done.out) == (2, "")
    said = one_line(done.err)
    assert said.startswith("standard input:")
    assert len(said) < 300
    if expected:
        assert said == expected


FIELDS = {
    "minus one device": "spec.containers[0].resources.",
    "half a device": "spec.containers[0].resources.",
    "not a quantity: ": "spec.containers[0].resources.limits.cpu",
    "a boolean for an amount": "spec.containers[0].resources.limits.cpu",
    "a request above its limit": "standard input:8: spec.containers[0].resources.requests",
    "the same name twice": "metadata.name",
}


@pytest.mark.parametrize("case", FIELDS)
def test_bad_input_is_told_with_its_field(case: str) -> None:
    assert FIELDS[case] in in_process("admit", "-", *SINGLE, stdin=BAD[case][0]).err


MACHINES = {
    "an unknown name": ("figure-2", "no file and no bundled machine has this name; hint: similar: figure-1"),
    "an empty name": ("", "no file and no bundled machine has this name"),
    "a folder": ("pods", "pods: cannot be read: Is a directory"),
    "a pod": (
        "pods/burstable.yaml",
        'pods/burstable.yaml:3: kind: expected Machine, got "Pod"; fix: use a machine file',
    ),
    "a bad short form": ("sockets=none", "--machine: sockets: "),
    "an unknown key in the short form": ("socket=2", "--machine: socket: "),
}


@pytest.mark.parametrize("case", MACHINES)
def test_a_bad_machine_is_one_clear_line_and_2(case: str) -> None:
    name, says = MACHINES[case]
    done = in_process("admit", ANNOUNCEMENT, "-m", name)
    assert (done.status, done.out) == (2, "")
    assert says in one_line(done.err)


def test_cpus_of_two_nodes_are_an_error_with_its_place(tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    machine.write_text("numaNodes:\n- {id: 0, cpus: 0-3, memory: 1Gi}\n- {id: 1, cpus: 3-7, memory: 1Gi}\n")
    done = in_process("admit", ANNOUNCEMENT, "-m", machine)
    assert (done.status, done.out) == (2, "")
    assert one_line(done.err).startswith(f"{machine}:3: numaNodes[1].cpus: ")


class TestBase:
    """A flag never changes the base; a file or the machine's own section does."""

    KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
    MACHINE = "numaNodes:\n- {id: 0, cpus: 0-7, memory: 64Gi}\n"

    def settings(self, *flags: str | Path) -> tuple[str, dict[str, Any]]:
        result = in_process("admit", PODS / "burstable.yaml", "-o", "json", *flags).json
        return result["base"], result["kubelet"]

    def test_nothing_given_is_the_ideal_node(self) -> None:
        base, kubelet = self.settings("-m", "figure-1")
        assert base == "ideal"
        assert (kubelet["cpuManagerPolicy"], kubelet["topologyManagerPolicy"]) == ("static", "none")
        assert kubelet["evictionHard"] == {}

    @pytest.mark.parametrize("flag", ["--policy=restricted", "--reserved-cpus=0", "--kube-reserved=cpu=1"])
    def test_a_flag_keeps_the_ideal_base(self, flag: str) -> None:
        assert self.settings("-m", "figure-1", flag)[0] == "ideal"

    def test_a_file_makes_it_the_kubelets(self, tmp_path: Path) -> None:
        file = tmp_path / "kubelet.yaml"
        file.write_text(self.KUBELET)
        base, kubelet = self.settings("-m", "figure-1", "--kubelet-config", file, "--policy=restricted")
        assert base == "kubelet"
        assert (kubelet["cpuManagerPolicy"], kubelet["topologyManagerPolicy"]) == ("none", "restricted")
        assert kubelet["evictionHard"] is None

    def test_flag_beats_file_beats_section(self, tmp_path: Path) -> None:
        machine, file = tmp_path / "machine.yaml", tmp_path / "kubelet.yaml"
        machine.write_text(f"{self.MACHINE}kubelet: {{topologyManagerPolicy: restricted, maxPods: 9}}\n")
        file.write_text(f"{self.KUBELET}topologyManagerPolicy: best-effort\n")
        policies = [
            self.settings("-m", machine, *more)[1]["topologyManagerPolicy"]
            for more in ((), ("--kubelet-config", file), ("--kubelet-config", file, "--policy=single-numa-node"))
        ]
        assert policies == ["restricted", "best-effort", "single-numa-node"]
        assert self.settings("-m", machine)[0] == "kubelet"

    def test_the_kubelet_base_refuses_to_start_where_the_ideal_one_does_not(self, tmp_path: Path) -> None:
        """`static` needs reserved CPUs; only the ideal base waives that."""
        file = tmp_path / "kubelet.yaml"
        file.write_text(f"{self.KUBELET}cpuManagerPolicy: static\n")
        assert in_process("admit", ANNOUNCEMENT, "-m", "figure-1").status == 1
        done = in_process("admit", ANNOUNCEMENT, "-m", "figure-1", "--kubelet-config", file)
        assert (done.status, done.out) == (4, "")
        assert one_line(done.err).startswith("the kubelet would not start: ")


class TestBeside:
    def beside(self, tmp_path: Path, *pods: dict[str, Any]) -> Path:
        file = tmp_path / "there.json"
        file.write_text(json.dumps({"kind": "List", "items": pods}))
        return file

    def test_pods_that_are_there_are_admitted_first_and_not_shown(self, tmp_path: Path) -> None:
        there = self.beside(tmp_path, pod("there-1", 3), pod("there-2", 3))
        done = admit(pod("a", 4), flags=(*SINGLE, "--beside", there))
        assert (done.status, admitted(done)) == (1, {"a": False})

    def test_finished_pods_hold_nothing(self, tmp_path: Path) -> None:
        there = self.beside(tmp_path, pod("there-1", 4) | {"status": {"phase": "Succeeded"}}, pod("there-2"))
        assert admitted(admit(pod("a", 4), flags=(*SINGLE, "--beside", there))) == {"a": True}

    def test_a_pod_that_cannot_be_there_is_told(self, tmp_path: Path) -> None:
        there = self.beside(tmp_path, pod("there-1", 5))
        done = admit(pod("a", 4), flags=(*SINGLE, "--beside", there))
        assert admitted(done) == {"a": True}
        assert one_line(done.err).startswith("warning: there-1: TopologyAffinityError on this node")
        assert [warning["code"] for warning in done.json["warnings"]] == ["beside-refused"]

    def test_started_pods_have_given_back_the_memory_of_their_init_containers(self, tmp_path: Path) -> None:
        """Without `--started` an earlier pod counts as admitted but not started."""
        big = pod("big", 1)
        init = {"name": "prepare", "image": "x", "resources": {"limits": {"cpu": 1, "memory": "3Gi"}}}
        big["spec"]["initContainers"] = [init]
        machine = tmp_path / "machine.yaml"
        machine.write_text("numaNodes:\n- {id: 0, cpus: 0-7, memory: 5Gi}\n")
        kubelet = ("--memory-manager-policy=Static", "--reserved-memory=0:memory=1Gi", "--system-reserved=memory=1Gi")
        flags = ("-m", machine, "--policy=single-numa-node", *kubelet, "--only=managers")
        waiting = admit(big, pod("next", 1, memory="3Gi"), flags=flags)
        started = admit(big, pod("next", 1, memory="3Gi"), flags=(*flags, "--started"))
        assert admitted(waiting) == {"big": True, "next": False}
        assert admitted(started) == {"big": True, "next": True}


def test_only_managers_leaves_the_node_as_a_whole_out() -> None:
    """The managers don't count shared CPUs; the check after them does."""
    pods = (pod("a", "5500m"), pod("b", "5500m"))
    assert admitted(admit(*pods)) == {"a": True, "b": False}
    assert admitted(admit(*pods, flags=(*SINGLE, "--only", "managers"))) == {"a": True, "b": True}


FAIL_ON = {
    # What happens: (pods, flags, status for rejected, unaligned, impossible, nothing)
    "all is well": ([pod("a")], SINGLE, (0, 0, 0, 0)),
    "refused on a node that has no room left": ([pod("a", 4), pod("b", 4), pod("c", 4)], SINGLE, (1, 1, 0, 0)),
    "refused on any such node": ([pod("a", 5)], SINGLE, (1, 1, 1, 0)),
    "admitted across two nodes": (
        [pod("a", 3), pod("b", 3), pod("c", 2)],
        ("-m", "figure-1", "--policy=best-effort"),
        (0, 1, 0, 0),
    ),
}


@pytest.mark.parametrize("case", FAIL_ON)
def test_fail_on_moves_the_bar(case: str) -> None:
    pods, flags, expected = FAIL_ON[case]
    names = ("rejected", "unaligned", "impossible", "nothing")
    assert tuple(admit(*pods, flags=(*flags, "--fail-on", name)).status for name in names) == expected
    assert admit(*pods, flags=flags).status == expected[0]


class TestOutput:
    def test_the_header_names_the_machine_and_the_base(self) -> None:
        lines = in_process("admit", ANNOUNCEMENT, *SINGLE).out.splitlines()
        assert lines[0] == "figure-1 (bundled): 2 NUMA nodes, 8 CPUs; kubelet 1.36, ideal defaults"
        assert lines[1].startswith("single-numa-node, scope container, CPU Manager static, Memory Manager None")

    def test_a_short_form_has_a_short_name(self) -> None:
        machine = "sockets=1,coresPerNumaNode=4,memoryPerNumaNode=8Gi"
        done = in_process("admit", PODS / "burstable.yaml", "-m", machine)
        assert done.out.startswith("1-node-4-cpus (short form): 1 NUMA node, 4 CPUs; kubelet 1.36, ideal defaults")

    @pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "name"])
    def test_quiet_prints_no_results_and_keeps_the_status(self, output: str) -> None:
        done = in_process("admit", ANNOUNCEMENT, *SINGLE, "-q", "-o", output)
        assert done == (1, "", "")

    def test_quiet_keeps_errors(self) -> None:
        assert one_line(in_process("admit", "nowhere.yaml", *SINGLE, "-q").err).startswith("nowhere.yaml: ")

    def test_yaml_is_the_same_as_json(self) -> None:
        plain, other = (in_process("admit", ANNOUNCEMENT, *SINGLE, "-o", form) for form in ("json", "yaml"))
        assert plain.json == yaml.safe_load(other.out)

    def test_json_is_ascii_whatever_the_terminal(self) -> None:
        """The answer for a script does not depend on the locale of the machine that it runs on."""
        manifest = pod("a")
        manifest["spec"]["initContainers"] = [{"name": "ä", "image": "x"}]
        done = in_process("admit", "-", "-o", "json", *SINGLE, stdin=written(manifest))
        assert done.out.isascii()
        assert done.err.count("\n") <= 1

    def test_what_is_said_of_many_pods_is_said_once(self) -> None:
        pods = [pod(f"p{number}", 1, **{"example.com/dev": 1}) for number in range(5)]
        done = admit(*pods)
        said = "warning: p0, p1, p2 and 2 more: admitted without example.com/dev"
        said += "; hint: use a machine with example.com/dev, or add its devices (--device example.com/dev@NUMA=N)"
        assert one_line(done.err) == said
        assert [warning["path"] for warning in done.json["warnings"]] == ["p0", "p1", "p2", "p3", "p4"]

    def test_lines_off_a_terminal_are_never_wrapped_and_have_no_colour(self) -> None:
        done = numalign("admit", ANNOUNCEMENT, *SINGLE, env={"COLUMNS": "20"})
        assert "\x1b" not in done.out
        assert any(len(line) > 100 for line in done.out.splitlines())
        assert not [line for line in done.out.splitlines() if line != line.rstrip()]


def on_a_terminal(*arguments: str | Path, **environment: str) -> str:
    """Run the command with standard output on a terminal of its own."""
    main, end = pty.openpty()
    try:
        with subprocess.Popen(
            command(*arguments), cwd=ROOT, stdout=end, env={**ENVIRONMENT, "TERM": "xterm-256color", **environment}
        ) as process:
            os.close(end)
            text = b""
            while True:
                try:
                    more = os.read(main, 65536)
                except OSError:  # Linux says so when the other end is closed
                    break
                if not more:
                    break
                text += more
        assert process.returncode == 1
    finally:
        os.close(main)
    return text.decode().replace("\r\n", "\n")


COLOUR = re.compile(r"\x1b\[[0-9;]*[1-9][0-9;]*m")
RED = "\x1b[1;31m"


class TestTerminal:
    def test_a_terminal_gets_colour_and_lines(self) -> None:
        text = on_a_terminal("admit", ANNOUNCEMENT, *SINGLE, COLUMNS="150")
        assert RED in text
        assert "──" in text

    def test_no_color_keeps_the_lines(self) -> None:
        text = on_a_terminal("admit", ANNOUNCEMENT, *SINGLE, COLUMNS="150", NO_COLOR="1")
        assert "──" in text
        assert "31m" not in text

    def test_a_dumb_terminal_gets_plain_text(self) -> None:
        text = on_a_terminal("admit", ANNOUNCEMENT, *SINGLE, COLUMNS="150", TERM="dumb")
        assert "\x1b" not in text
        assert "──" not in text

    def test_columns_is_the_width(self) -> None:
        text = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal("admit", ANNOUNCEMENT, *SINGLE, COLUMNS="100"))
        table = text.split("\n\n")[1]
        assert max(map(len, table.splitlines())) <= 100

    def test_force_color_colours_a_pipe(self) -> None:
        assert RED in numalign("admit", ANNOUNCEMENT, *SINGLE, env={"FORCE_COLOR": "1", "COLUMNS": "150"}).out

    def test_json_has_no_colour_on_a_terminal(self) -> None:
        assert json.loads(on_a_terminal("admit", ANNOUNCEMENT, *SINGLE, "-o", "json"))["kind"] == "AdmitResult"


class TestEnvironment:
    """`NUMALIGN_FLAG` stands for a flag of every command, `NUMALIGN_COMMAND_FLAG` for that of one."""

    @pytest.mark.parametrize(
        "variables",
        [
            {"NUMALIGN_MACHINE": "figure-1"},
            {"NUMALIGN_ADMIT_MACHINE": "figure-1"},
            {"NUMALIGN_ADMIT_MACHINE": "figure-1", "NUMALIGN_MACHINE": "hgx-h100"},
            {"NUMALIGN_ADMIT_MACHINE": "", "NUMALIGN_MACHINE": "figure-1"},
        ],
    )
    def test_the_machine(self, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert in_process("admit", ANNOUNCEMENT, "-o", "json").json["machine"] == "figure-1"

    def test_a_flag_beats_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NUMALIGN_MACHINE", "hgx-h100")
        assert in_process("admit", ANNOUNCEMENT, "-m", "figure-1", "-o", "json").json["machine"] == "figure-1"

    @pytest.mark.parametrize("name", ["NUMALIGN_POLICY", "NUMALIGN_TOPOLOGY_MANAGER_POLICY"])
    def test_both_names_of_the_policy(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(name, "restricted")
        kubelet = in_process("admit", ANNOUNCEMENT, "-m", "figure-1", "-o", "json").json["kubelet"]
        assert kubelet["topologyManagerPolicy"] == "restricted"

    def test_format_and_quiet(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NUMALIGN_OUTPUT", "name")
        assert in_process("admit", PODS / "burstable.yaml", "-m", "figure-1").out == "pod/burstable\n"
        monkeypatch.setenv("NUMALIGN_QUIET", "1")
        assert in_process("admit", PODS / "burstable.yaml", "-m", "figure-1").out == ""

    def test_a_bad_value_in_the_environment_is_2(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NUMALIGN_OUTPUT", "xml")
        done = in_process("admit", ANNOUNCEMENT, "-m", "figure-1")
        assert (done.status, done.out) == (2, "")
        assert "'xml'" in one_line(done.err)


@pytest.mark.parametrize("machine", [path.stem for path in sorted((ROOT / "machines").glob("*.yaml"))])
def test_every_bundled_machine_answers_for_every_bundled_pod(machine: str) -> None:
    done = in_process("admit", PODS, "-m", machine, "-o", "json", "--fail-on", "nothing")
    assert done.status == 0
    assert done.json["machine"] == machine
    assert len(done.json["pods"]) >= 18


def test_what_a_machine_suggests_is_named_and_not_applied() -> None:
    done = numalign("admit", PODS / "limits-only.yaml", "-m", "gb200", "--policy", "restricted")

    assert done.status == 4
    assert done.err.splitlines()[-1] == (
        "fix: add --topology-manager-policy-options max-allowable-numa-nodes=34, as the machine file suggests"
    )


def test_a_machine_is_changed_on_the_line() -> None:
    more = ("--device", "nvidia.com/gpu=1", "--memory-per-numa-node", "64Gi")
    done = numalign("admit", PODS / "limits-only.yaml", "-m", "figure-1", *more)
    assert done.out.startswith("figure-1 (bundled, changed): 2 NUMA nodes, 8 CPUs; kubelet 1.36, ideal defaults")

    alone = numalign("admit", PODS / "limits-only.yaml", *more)
    assert (alone.status, alone.out) == (2, "")
    assert "add --machine" in alone.err


@pytest.mark.parametrize(("release", "status"), [("1.34", 2), ("1.35", 0), ("1.36", 0), ("1.37", 0)])
def test_any_container_may_have_a_restart_policy_from_135_on(tmp_path: Path, release: str, status: int) -> None:
    """docs/rules/admission-fit.md 10."""
    file = tmp_path / "pod.yaml"
    file.write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: x, "
        "restartPolicy: OnFailure, restartPolicyRules: [{action: Restart}]}]}}"
    )
    done = in_process("admit", file, "-m", "figure-1", "--kubelet-version", release)

    assert done.status == status
    if status:
        assert "spec.containers[0].restartPolicy: Kubernetes 1.34 takes none here (1.35 does)" in done.err
        gate = in_process(
            "admit",
            file,
            "-m",
            "figure-1",
            "--kubelet-version",
            release,
            "--feature-gates",
            "ContainerRestartRules=true",
        )
        assert gate.status == 0
