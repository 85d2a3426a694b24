"""The playground and the pages around it, in a headless Chromium: `make site-check` builds the site and runs this.

What a person does is done: paste, read, click a fix, send a link, go offline; what a stranger may do, too. The figures
at the end (bytes as sent, time to the first answer beside a page that only starts the same Pyodide) are printed, and no
test fails on a clock.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from manual import bridge
from manual.playground import link, lists
from tests.browser.server import Site
from tests.cli.running import ROOT

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the accessibility checker is not installed")

pytestmark = pytest.mark.site

PATIENCE = 180_000
"""Milliseconds: a loaded machine compiles Python slowly."""
STATE = "document.documentElement.dataset.state"
OLD_LINK = "#1.q1ZKzs_NTcxLUbJSSkzJzSxR0lEqyAfxgIzcxOSMzLxUICctM720KFXXECiYlpOYXqxkVV2ro1ScWgJkRcfWAgA"


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("dialog", lambda dialog: problems.append(f"dialog {dialog.message}") or dialog.dismiss())
    yield opened
    context.close()
    assert problems == []


@pytest.fixture(scope="module")
def warm(browser: Any, site: Site) -> Iterator[Any]:
    """Give a page that has answered once."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    visit(opened, site)
    yield opened
    context.close()


def visit(page: Any, site: Site, hash_: str = "") -> None:
    page.goto(f"{site.address}/playground/{hash_}")
    answered(page)


def answered(page: Any, state: str = "answered") -> None:
    page.wait_for_function(f"() => {STATE} === '{state}' || {STATE} === 'failed'", timeout=PATIENCE)
    assert page.evaluate(STATE) == state, page.text_content("#status")


def do(page: Any, action: Any) -> None:
    """Change something and wait until it is answered."""
    page.evaluate(f"{STATE} = 'changed'")
    action()
    answered(page)


def ask(page: Any, question: bridge.Question) -> tuple[str, str]:
    do(page, lambda: page.evaluate("(hash) => { location.hash = hash }", link(question)))
    return page.text_content("#answer"), page.text_content("#notes")


def on_the_command_line(question: bridge.Question, folder: Path) -> tuple[str, str]:
    for name, text in bridge.files(question).items():
        (folder / name).write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "numalign", *bridge.arguments(question)]
    run = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False)
    return run.stdout, run.stderr


QUESTIONS = [(one["title"], one["question"]) for one in lists()["examples"]]


def test_twenty_questions_are_asked() -> None:
    assert len(QUESTIONS) >= 20


@pytest.mark.parametrize("question", [one for _, one in QUESTIONS], ids=[name for name, _ in QUESTIONS])
def test_an_answer_is_the_command_lines_to_the_byte(warm: Any, question: bridge.Question, tmp_path: Path) -> None:
    assert ask(warm, question) == on_the_command_line(question, tmp_path)


def test_a_pasted_pod_and_machine_are_answered_after_the_last_key(page: Any, site: Site, tmp_path: Path) -> None:
    visit(page, site)
    pod = (ROOT / "pods/guaranteed-4cpu-1gpu.yaml").read_text(encoding="utf-8")
    machine = (ROOT / "machines/dgx-1.yaml").read_text(encoding="utf-8")
    do(page, lambda: page.fill("#pod", pod))
    page.select_option("#machine-name", "")
    do(page, lambda: page.fill("#machine-text", machine))
    do(page, lambda: page.select_option("#policy", "restricted"))
    question = {"pod": pod, "machineText": machine, "flags": {"topology-manager-policy": "restricted"}}
    assert page.text_content("#answer") == on_the_command_line(question, tmp_path)[0]
    assert "Exit status 0" in page.text_content("#status")
    page.click("#copy-command")
    page.wait_for_function("() => document.getElementById('status').textContent === 'Command copied.'")
    assert page.evaluate("navigator.clipboard.readText()") == bridge.command_text({"command": "explain", **question})


def test_a_fix_is_clicked_and_undone_and_a_link_holds_it(page: Any, site: Site, browser: Any) -> None:
    visit(page, site)
    before = page.input_value("#pod")
    assert 'nvidia.com/gpu: "8"' in before
    do(page, lambda: page.click("#fixes button:has-text('Request at most 4')"))
    assert page.input_value("#pod") == before.replace('nvidia.com/gpu: "8"', 'nvidia.com/gpu: "4"')
    assert "aligned on NUMA 0" in page.text_content("#answer")
    page.click("#share")
    page.wait_for_function("() => document.getElementById('status').textContent === 'Link copied.'")
    shared, answer = page.evaluate("navigator.clipboard.readText()"), page.text_content("#answer")
    do(page, lambda: page.click("#reset"))
    assert page.input_value("#pod") == before

    fresh = browser.new_context().new_page()
    fresh.set_default_timeout(PATIENCE)
    fresh.goto(shared)
    answered(fresh)
    assert fresh.text_content("#answer") == answer
    assert fresh.get_attribute("#picture", "src").startswith("blob:")
    fresh.context.close()


def test_an_old_link_opens_for_good(warm: Any) -> None:
    old = {"command": "admit", "pod": "", "machine": "figure-1", "flags": {}, "sets": []}
    assert link(old) == OLD_LINK
    ask(warm, old)
    assert warm.input_value("#machine-name") == "figure-1"


def test_it_works_offline_once_it_has_answered(page: Any, site: Site) -> None:
    visit(page, site)
    page.wait_for_function("() => navigator.serviceWorker.ready.then((one) => one.active?.state === 'activated')")
    page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    page.context.set_offline(True)
    page.reload()
    answered(page)
    assert "rejected" in page.text_content("#answer")


HOSTILE = [
    "#1.",
    "#2.abc",
    "#1.AAAA",
    "#<img src=x onerror=alert(1)>",
    f"#1.{'A' * 70_000}",
    link({"pod": "x" * 300_000}),
    link({"pod": "a", "machine": "--help", "flags": {"output": "json", "topology-manager-policy": "<b>"}, "sets": [1]}),
    link({"command": "serve", "pod": ["a"], "flags": [1], "sets": "x"}),
]


def test_a_hostile_link_harms_nobody(page: Any, site: Site) -> None:
    site.sent.clear()
    visit(page, site, HOSTILE[-1])
    for hash_ in HOSTILE:
        page.evaluate("(hash) => { location.hash = hash }", hash_)
        page.wait_for_timeout(100)
        do(page, partial(page.select_option, "#command", "admit"))
        do(page, partial(page.select_option, "#command", "explain"))
        assert page.evaluate("document.querySelectorAll('main script, main iframe, #answer *, #notes *').length") == 0
    asked = [name for name in site.sent if not name.startswith(("/playground/", "/assets/", "/favicon"))]
    assert asked == []


def test_a_hostile_paste_is_text(warm: Any) -> None:
    page = warm
    for text in (
        "<svg onload=alert(1)>",
        "a: &a [*a]",
        "metadata: {name: '<img src=x onerror=alert(1)>'}",
        "\u202e" * 99,
    ):
        do(page, lambda text=text: page.fill("#pod", f"{text}\n"))
        assert page.evaluate("document.querySelectorAll('#answer *, #notes *').length") == 0


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1000, 1400])
def test_nothing_is_cut_off_and_everybody_can_use_it(browser: Any, site: Site, width: int, mode: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=mode)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    visit(opened, site)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(opened)
    assert found.violations_count == 0, found.generate_report()
    context.close()


def test_the_keyboard_reaches_all_of_it(warm: Any) -> None:
    warm.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(60):
        warm.keyboard.press("Tab")
        reached.add(warm.evaluate("document.activeElement.id"))
    assert {"example", "command", "pod", "machine-name", "policy", "answer", "share", "copy-command"} <= reached


def test_figures(browser: Any, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    times: dict[str, list[float]] = {"bare": [], "playground": []}
    for _ in range(5):
        for name, path, done in (
            ("bare", "bare.html", "document.title === 'answered 2'"),
            ("playground", "", "document.getElementById('answer').textContent !== ''"),
        ):
            context = browser.new_context()
            opened = context.new_page()
            opened.set_default_timeout(PATIENCE)
            site.sent.clear()
            start = time.monotonic()
            opened.goto(f"{site.address}/playground/{path}")
            opened.wait_for_function(f"() => {done}", timeout=PATIENCE)
            times[name].append(time.monotonic() - start)
            sent = sum(site.sent.values())
            if name == "playground":
                answered(opened)
                opened.evaluate("window.begun = performance.now()")
                do(opened, partial(opened.select_option, "#policy", "restricted"))
                warm = opened.evaluate("performance.now() - window.begun") / 1000
            context.close()
    bare, cold = median(times["bare"]), median(times["playground"])
    with capsys.disabled():
        sys.stdout.write(
            f"\nplayground: {sent / 1e6:.2f} MB as sent; first answer after {cold:.2f} s, "
            f"{cold / bare:.2f} x of a bare page's {bare:.2f} s (bound {1.5 * bare + 2:.2f} s); "
            f"the next after {warm:.2f} s, 0.3 s of which it waits for more keys\n"
        )
    assert sent <= 12e6
