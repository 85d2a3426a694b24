"""Checks as a JUnit report, the XML that build servers show as test results."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from numalign.render.ci.checks import Check, Problem
from numalign.render.escape import lines


def junit(name: str, checks: Sequence[Check]) -> str:
    """Write a report: a test case a pod; what makes the answer no is a failure, the rest stands in `system-out`."""
    failures = sum(any(problem.fails for problem in check.problems) for check in checks)
    totals = {"tests": str(len(checks)), "failures": str(failures), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "numalign", **totals})
    suite = ElementTree.SubElement(root, "testsuite", {"name": lines(f"numalign {name}"), **totals})
    for check in checks:
        _case(suite, check)
    ElementTree.indent(root)
    # In ASCII, so that the report is the same in every locale.
    text = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=False).decode()
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, check: Check) -> None:
    attributes = {"classname": lines(check.group), "name": lines(check.name)}
    if check.file is not None:
        attributes |= {"file": lines(check.file), "line": str(check.line)}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    others = []
    for problem in check.problems:
        if problem.fails:
            said = {"type": lines(problem.title), "message": lines(problem.message)}
            ElementTree.SubElement(case, "failure", said).text = _told(check, problem)
        else:
            others.append(_told(check, problem))
    if others:
        ElementTree.SubElement(case, "system-out").text = "\n".join(others)


def _told(check: Check, problem: Problem) -> str:
    file = problem.file or check.file
    where = f"{file}:{problem.line or check.line}: " if file is not None else ""
    return lines(f"{where}{problem.level}: {problem.title}: {problem.text}")
