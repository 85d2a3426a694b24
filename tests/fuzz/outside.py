"""Classes of what lies beside the inputs: settings, states edited by hand, a cluster's files, answers, raw HTTP."""

from __future__ import annotations

import copy
import json
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.cli.running import MACHINES, PODS, in_process
from tests.fuzz.case import Case
from tests.fuzz.mutate import damaged, mutated, odd, places
from tests.server.nodes import POD

GOOD_LINES = (
    *('machine = "figure-1"', 'policy = "restricted"', "quiet = 1", 'ignore = ["odd-cpus"]', 'output = "json"'),
    *(
        "[lint]",
        '[lint]\nfail-on = "rejected"',
        "[admit]\ndetails = true",
        "[config]",
        '[config.suggest]\noutput = "yaml"',
    ),
)
ODD_LINES = (
    *('exec = "touch {here}/x"', 'save = "{here}/x"', 'state = "x"', "jobs = 99", 'listen = "0.0.0.0:1"', "[[lint]]"),
    *("machine = {a = 1}", f"a{'.a' * 5000} = 1", f"x = {'9' * 5000}", f"x = {'[' * 3000}", "quiet = 0x" + "f" * 5000),
    *(
        "machine = 1979-05-27",
        'machine = "\\u0000"',
        "output = [[1]]",
        "'' = 1",
        '"\\u001b" = 1',
        "x",
        "# [tool.numalign",
    ),
)


LOOSE: dict[str, Any] = {"default": str, "skipkeys": True}
"""How JSON is written of what has things in it that JSON does not know."""


def settings(rng: Random) -> Case:
    """Files of defaults, of ours and of a project."""
    lines = [rng.choice(GOOD_LINES) for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.6:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(ODD_LINES))
    own = rng.random() < 0.5
    text = "\n".join(lines)
    if not own:
        text = "[tool.numalign]\n" + text.replace("\n[", "\n[tool.numalign.")
    data = text.encode()
    name = f"working/{rng.choice(('', 'folder/'))}{'.numalign.toml' if own else 'pyproject.toml'}"
    words = rng.choice((("lint",), ("admit", "-m", "figure-1"), ("explain", "-m", "figure-1")))
    files = {name: damaged(rng, data) if rng.random() < 0.2 else data}
    return Case((*words, str(rng.choice(sorted(PODS.glob("*.yaml"))))), files=files)


@cache
def good_states() -> list[Any]:
    """Return states as `admit --state` writes them."""
    settings = (
        "--memory-manager-policy",
        "Static",
        "--reserved-memory",
        "0:memory=1Gi",
        "--kube-reserved",
        "memory=1Gi",
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, more in enumerate(((), settings, ("--policy", "restricted", "--scope", "pod"))):
            path = Path(folder) / str(number)
            in_process("admit", PODS / "announcement.yaml", "-m", "figure-1", "--state", path, *more)
            found.append(json.loads(path.read_text()))
    return found


def kept_states(rng: Random) -> Case:
    """States that somebody edited, to every command that reads them."""
    data = copy.deepcopy(rng.choice(good_states()))
    edits = rng.choice((0, 0, 1, 1, 1, 2))
    for _ in range(edits):
        data = mutated(rng, data, 2) if rng.random() < 0.3 else edited(rng, data)
    if not edits:
        data["pods"][0]["metadata"]["labels"] = {"x": rng.choice("abc")}
    text = json.dumps(data, indent=rng.choice((None, 1)), **LOOSE).encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        text = damaged(rng, text)
    case = rng.choice(
        (
            Case(("admit", str(PODS / "burstable.yaml"), "--state", "{here}/s", "-o", "json")),
            Case(("release", "numa-aligned-1", "--state", "{here}/s")),
            Case(("status", "--node", "{here}/s", "-o", rng.choice(("table", "json"))), kept=("s",)),
            Case(("nrt", "export", "--node", "{here}/s"), kept=("s",)),
        )
    )
    return case._replace(files={"s": text})


def edited(rng: Random, data: Any) -> Any:
    """Change one value as a person would: to another of the same document, or to an odd one."""
    spots = [spot for spot in places(data) if isinstance(spot[0], dict | list)]
    holder, key = rng.choice(spots)
    other, name = rng.choice(spots)
    holder[key] = copy.deepcopy(other[name]) if rng.random() < 0.5 else odd(rng)
    return data


def cluster_files(rng: Random) -> Case:
    """A cluster file, and the machines and configurations that it names, or should not."""
    group: dict[str, Any] = {"name": "n{i}", "count": rng.randint(1, 3), "machine": "m.yaml", "kubeletConfig": "k.yaml"}
    machine = (MACHINES / "figure-1.yaml").read_bytes()
    config = (
        b"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ntopologyManagerPolicy: restricted\n"
    )
    names = (
        "/etc/passwd",
        "../m.yaml",
        "link",
        "pipe",
        "/dev/zero",
        "figure-1",
        "sockets=2",
        "m.yaml@n",
        "\0",
        "",
        "..",
    )
    if rng.random() < 0.5:
        group[rng.choice(("machine", "kubeletConfig"))] = rng.choice(names)
    data: Any = {"nodes": [group], "scheduler": {"kind": rng.choice(("nrt", "unaware", "kep"))}}
    if rng.random() < 0.3:
        data = mutated(rng, data, 2)
    files = {
        "c/c.yaml": json.dumps(data, **LOOSE).encode("utf-8", "surrogatepass"),
        "c/m.yaml": machine,
        "c/k.yaml": config,
    }
    if rng.random() < 0.2:
        name = rng.choice(("c/m.yaml", "c/k.yaml"))
        files[name] = damaged(rng, files[name])
    words = [rng.choice(("schedule", "capacity")), str(PODS / "limits-only.yaml"), "--cluster", "{here}/c/c.yaml"]
    return Case(
        (*words, *(["--allow-outside"] if rng.random() < 0.2 else [])),
        files={**files, "m.yaml": machine},
        links={"c/link": rng.choice(("../m.yaml", "m.yaml", "/dev/zero", "link", "/etc"))},
        pipes=("c/pipe",),
    )


def answers(rng: Random) -> Case:
    """What an API server answers to `kubectl numalign`."""
    from tests.cli.test_kubectl import ANSWERS

    given: dict[str, Any] = copy.deepcopy(ANSWERS)
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        call = rng.choice(sorted(given))
        shaped = isinstance(given[call], dict) and rng.random() < 0.8
        given[call] = mutated(rng, given[call], 2) if shaped else odd(rng)
    words = rng.choice((("why", "vllm-0", "-n", "shop"), ("nodes",), ("schedule",), ("capacity",)))
    more = (str(PODS / "limits-only.yaml"),) if words[0] in ("schedule", "capacity") else ()
    text = json.dumps({call: json.dumps(answer, **LOOSE) for call, answer in given.items()})
    return Case(("kubectl", *words, *more), files={"answers.json": text.encode("utf-8", "surrogatepass")})


HEADERS = (
    *(
        b"Host: evil.example",
        b"Content-Length: -1",
        b"Content-Length: 99999999999",
        b"Transfer-Encoding: chunked",
        b"X",
    ),
    *(b"Expect: 100-continue", b"Upgrade: websocket", b"Content-Length: 5\r\nContent-Length: 6", b"X: " + b"a" * 70000),
)


def requests(rng: Random) -> Case:
    """Bytes that a client sends to `serve`."""
    call: Any = {"Pod": POD, "Nodes": None, "NodeNames": ["a", "b", "c"]}
    if rng.random() < 0.5:
        call = mutated(rng, call, 2)
    body = json.dumps(call, **LOOSE).encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        body = damaged(rng, body)
    method, path = (
        rng.choice((b"POST", b"POST", b"POST", b"GET")),
        rng.choice((b"/v1/filter", b"/v1/prioritize", b"/metrics")),
    )
    lines = [b"Host: localhost", b"Connection: close", b"Content-Length: %d" % len(body)]
    if rng.random() < 0.3:
        lines[rng.randrange(3)] = rng.choice(HEADERS)
    text = b"%s %s HTTP/1.1\r\n%s\r\n\r\n%s" % (method, path, b"\r\n".join(lines), body)
    return Case(("http",), damaged(rng, text) if rng.random() < 0.2 else text)
