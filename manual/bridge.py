"""The playground's questions to numalign, in the browser's Python: files are written, a command runs, texts come back.

A question is what the page holds and the address keeps: `command`, the texts `pod`, `beside`, `machineText` and
`kubelet`, the bundled `machine`, `flags` (name without dashes -> value) and `sets` (changed requests). Nothing here
trusts any of it: a value is one argument, of flags that name no file, and what is wrong is numalign's own error.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

FOLDER: Final = "/home/pyodide/question"
POD, BESIDE, MACHINE, KUBELET = "pod.yaml", "running.yaml", "machine.txt", "kubelet.yaml"
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "explain": ("explain", POD),
    "admit": ("admit", POD),
    "compare": ("compare", POD),
    "lint": ("lint", POD),
    "config check": ("config", "check"),
}
"""Command of the page -> the words of the command line."""
FLAGS: Final = (
    "kubelet-version",
    "topology-manager-policy",
    "topology-manager-scope",
    "topology-manager-policy-options",
    "cpu-manager-policy",
    "cpu-manager-policy-options",
    "memory-manager-policy",
    "reserved-memory",
    "reserved-cpus",
    "kube-reserved",
    "system-reserved",
    "eviction-hard",
    "feature-gates",
    "replicas",
    "device",
    "hugepages",
    "memory-per-numa-node",
    "nps",
    "snc",
    "try-option",
)
"""Flags that a question may set; none that reads, writes, runs or fetches."""
SHORT: Final[Mapping[str, str]] = {
    "policy": "topology-manager-policy",
    "scope": "topology-manager-scope",
    "cpu-policy-options": "cpu-manager-policy-options",
}
"""Other names of some."""
PICTURED: Final = ("explain", "admit", "compare")
"""Commands that draw."""

Question = dict[str, Any]


def arguments(question: Question) -> list[str]:
    """Give the command line of a question, but for the output."""
    command = str(question.get("command", "explain"))
    words = [*COMMANDS.get(command, COMMANDS["explain"])]
    if question.get("machineText"):
        words += ["--machine", MACHINE]
    elif question.get("machine"):
        words.append(f"--machine={question['machine']}")
    if question.get("kubelet"):
        words += ["--kubelet-config", KUBELET]
    if question.get("beside") and command in ("explain", "admit", "compare", "config check"):
        words += ["--beside", BESIDE]
    flags = question.get("flags") or {}
    words += [f"--{name}={flags[name]}" for name in FLAGS if flags.get(name)]
    if command in ("explain", "admit"):
        words += [f"--set={one}" for one in question.get("sets") or ()]
    return words


def command_text(question: Question) -> str:
    """Write a question as a shell would take it: the files, then the command."""
    texts = [
        f"cat > {name} <<'END_OF_FILE'\n{text.rstrip(chr(10))}\nEND_OF_FILE\n" for name, text in files(question).items()
    ]
    return "".join(texts) + shlex.join(["numalign", *arguments(question)]) + "\n"


def answer(text: str, form: str = "table") -> str:
    """Answer a question, given as JSON; gives JSON: `status`, `out`, `err`.

    Args:
        text: the question.
        form: the value of `--output`; `table` leaves the flag out.
    """
    question: Question = json.loads(text)
    if form == "svg" and question.get("command") not in PICTURED:
        return json.dumps({"status": 0, "out": "", "err": ""})
    with _folder(question):
        more = [] if form == "table" else ["--output", form]
        status, out, err = _run([*arguments(question), *more])
    return json.dumps({"status": status, "out": out, "err": err, "command": command_text(question)})


def fixes(answered: str) -> str:
    """List the fixes of an answer in JSON that a click can make: `pod`, `text`, `aligned`."""
    found = []
    try:
        pods = json.loads(answered).get("pods", [])
    except ValueError:
        pods = []
    for pod in pods:
        for number, change in enumerate(pod.get("changes") or ()):
            if _is_simple(change):
                one = {"pod": pod["name"], "number": number, "text": change["text"], "aligned": change["aligned"]}
                found.append({**one, "change": {name: change[name] for name in ("requests", "settings", "machine")}})
    return json.dumps(found)


def applied(text: str, change: str) -> str:
    """Make a fix: the question with changed requests, settings or machine."""
    question, wanted = json.loads(text), json.loads(change)
    question["flags"] = {**(question.get("flags") or {}), **{k: v for k, v in wanted["settings"].items() if k in FLAGS}}
    if wanted.get("machine"):
        question["machine"], question["machineText"] = wanted["machine"], ""
    for one in wanted["requests"]:
        edited = with_request(question.get("pod", ""), one["container"], one["resource"], one["ask"])
        if edited is None:
            sets = [each for each in question.get("sets") or () if not each.startswith(_target(one))]
            question["sets"] = [*sets, _target(one) + one["ask"]]
        else:
            question["pod"] = edited
    return json.dumps(question)


def with_request(text: str, container: str, resource: str, amount: str) -> str | None:
    """Write another amount into a manifest where the container names the resource; None: it does not.

    The rest of the text stays as it is, comments too.
    """
    import yaml

    places = []
    try:
        for document in yaml.compose_all(text, Loader=yaml.SafeLoader):
            places += [one for one in _amounts(document, container, resource) if isinstance(one, yaml.ScalarNode)]
    except yaml.YAMLError:
        return None
    for node in sorted(places, key=lambda one: -one.start_mark.index):
        text = f"{text[: node.start_mark.index]}{json.dumps(amount)}{text[node.end_mark.index :]}"
    return text if places else None


def _amounts(node: Any, container: str, resource: str) -> Iterator[Any]:
    """Find what a container requests of a resource, wherever in a document containers are."""
    import yaml

    if isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from _amounts(one, container, resource)
    if not isinstance(node, yaml.MappingNode):
        return
    fields = {getattr(key, "value", None): value for key, value in node.value}
    if getattr(fields.get("name"), "value", None) == container and isinstance(
        fields.get("resources"), yaml.MappingNode
    ):
        for key, kind in fields["resources"].value:
            if key.value in ("limits", "requests") and isinstance(kind, yaml.MappingNode):
                yield from [value for name, value in kind.value if name.value == resource]
    for value in fields.values():
        yield from _amounts(value, container, resource)


def _target(request: Mapping[str, str]) -> str:
    return f"{request['container']}:{request['resource']}="


def _is_simple(change: Mapping[str, Any]) -> bool:
    """Tell whether a fix is in the manifest, the settings or the machine alone."""
    more = change.get("pods") or change.get("hardware") or change.get("deleteStateFiles")
    unknown = set(change.get("settings") or {}) - set(FLAGS)
    return not more and not unknown and bool(change.get("requests") or change.get("settings") or change.get("machine"))


def files(question: Question) -> dict[str, str]:
    """Give the files that a question's command line names: name -> text."""
    named = ((POD, "pod"), (BESIDE, "beside"), (MACHINE, "machineText"), (KUBELET, "kubelet"))
    texts = {name: question.get(key) for name, key in named}
    return {name: str(text) for name, text in texts.items() if text}


@contextlib.contextmanager
def _folder(question: Question) -> Iterator[None]:
    """Stand in a folder that holds the question's files and nothing else."""
    folder = Path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, text in files(question).items():
        (folder / name).write_text(text, encoding="utf-8", errors="replace")
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _run(words: list[str]) -> tuple[int, str, str]:
    """Run a command line in this process."""
    from numalign.cli import main

    out, err = io.StringIO(), io.StringIO()
    status = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), err.getvalue()
