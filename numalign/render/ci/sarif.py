"""Checks as SARIF 2.1.0, which code scanning services show beside the lines of a change, with what their codes mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from numalign.render.ci.checks import Check, Level, Problem, fingerprinted
from numalign.render.escape import lines
from numalign.render.json import Data
from numalign.values import NamedTuple
from numalign.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Mapping[Level, str] = {"error": "error", "warning": "warning", "notice": "note"}


def sarif(command: str, checks: Sequence[Check]) -> Data:
    """Write a log with one run.

    Args:
        command: `lint`, `admit` or `test`.
        checks: what was looked at.
    """
    codes = list(dict.fromkeys(problem.title for check in checks for problem in check.problems))
    driver = {"name": "numalign", "semanticVersion": __version__, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"numalign/{command}/"},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(check, problem, mark, codes.index(problem.title)) for check, problem, mark in fingerprinted(checks)
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> Data:
    text = rule_text(code)
    parts = [("Why", text.why), ("Instead", text.instead), ("To ignore", text.leave)]
    said = [(label, part) for label, part in parts if part]
    rule: Data = {"id": lines(code)}
    name = "".join(word.capitalize() for word in code.split("-"))
    if "-" in code:  # a name must say more than the id
        rule["name"] = name
    return rule | {
        "shortDescription": {"text": lines(plain(f"{text.found}."))},
        "fullDescription": {"text": lines(plain(f"{text.found}: {text.why}."))},
        "help": {
            "text": lines(plain("\n".join(f"{label}: {part}." for label, part in said))),
            "markdown": lines("\n\n".join(f"**{label}:** {part}." for label, part in said)),
        },
    }


def _result(check: Check, problem: Problem, mark: str, rule: int) -> Data:
    result: Data = {
        "ruleId": lines(problem.title),
        "ruleIndex": rule,
        "level": _LEVELS[problem.level],
        "message": {"text": lines(f"{check.name}: {problem.text}")},
        "partialFingerprints": {"numalign/v1": mark},
    }
    path = check.path(problem)
    if path is not None:
        place = {
            "artifactLocation": {"uri": ("file://" if path.startswith("/") else "") + quote(path)},
            "region": {"startLine": max(problem.line or check.line, 1)},
        }
        result["locations"] = [{"physicalLocation": place}]
    return result


class RuleText(NamedTuple):
    """What is said of a code, in Markdown."""

    found: str
    why: str
    instead: str
    leave: str = ""
    """How to have it passed over; empty: there is no way but `--fail-on`."""


_EXPLAIN: Final = "`numalign explain` with the same pods, machine and flags tries the nearest changes that help"

_ADMISSION: Final[Mapping[str, RuleText]] = {
    "TopologyAffinityError": RuleText(
        "The Topology Manager rejects the pod",
        "no set of NUMA nodes has all that a container requests, as the policy requires",
        _EXPLAIN,
    ),
    "SMTAlignmentError": RuleText(
        "The CPU Manager rejects the pod",
        "with `full-pcpus-only` a container gets whole cores only, and its CPUs are no multiple of a core's threads, "
        "or too few whole cores are free",
        _EXPLAIN,
    ),
    "UnexpectedAdmissionError": RuleText(
        "The kubelet cannot allocate what the pod requests",
        "a device, CPUs or memory are not free in this number; the pod fails and is not tried again on the node",
        _EXPLAIN,
    ),
    "EmptyPodSharedPoolError": RuleText(
        "Nothing is left for the containers of the pod that share CPUs",
        "what the pod has for all its containers is given to some of them alone",
        "ask for more for the pod as a whole, or less for its containers",
    ),
    "DeviceMissing": RuleText(
        "The machine does not have a device that the pod requests",
        "the kubelet would admit the pod without it, and no scheduler would send it there",
        "the name that the machine has, another machine, or `--allow-missing RESOURCE`",
    ),
    "NotAligned": RuleText(
        "The pod is admitted, but not aligned",
        "its CPUs, devices and memory are on more NUMA nodes than they need, or are not pinned at all",
        "`numalign compare` shows which policy, scope or option aligns it; `numalign lint` what its manifest lacks",
    ),
    "NoCommonSwitch": RuleText(
        "A GPU of a container shares no PCI switch with a NIC of the container, or the PCI bus is unknown",
        "what passes between them crosses the CPU's root complex, at a part of the bandwidth",
        "request GPUs and NICs so that each GPU can have a NIC of its switch",
    ),
    "panic": RuleText(
        "The kubelet would crash", "after each restart the kubelet meets the pod and crashes again", _EXPLAIN
    ),
    "hang": RuleText("The kubelet would hang", "it admits no further pod until it is restarted", _EXPLAIN),
    "NotAsExpected": RuleText(
        "A test of `numalign test` finds something else than its file expects",
        "a pod, a machine or a setting has changed what the kubelet decides",
        "mend what changed, or say in the file what is to be expected now",
    ),
}
"""Title of a problem of `admit` and `test` -> what it means."""


def rule_text(code: str) -> RuleText:
    """Tell what the title of a problem means."""
    if code in _ADMISSION:
        return _ADMISSION[code]
    from numalign.analysis.lint.pages import PAGES

    page = PAGES.get(code)
    if page is None:  # as many as there are resources, and predicates of the fit check
        short = code.startswith("OutOf")
        why = "the node as a whole has too little of it" if short else "the node is none that the pod may run on"
        return RuleText(
            f"The kubelet rejects the pod: {code}", why, _EXPLAIN if short else "another node, or another pod"
        )
    leave = f"`--ignore {code}`, or the annotation `numalign/ignore: {code}`"
    return RuleText(page.found[0].upper() + page.found[1:], page.why, page.instead, leave)


def plain(text: str) -> str:
    """Take Markdown's signs away; a link to another page becomes its name."""
    return re.sub(r"\[[^]]*\]\(([^)]*)\)", r"docs/\1", text).replace("`", "")
