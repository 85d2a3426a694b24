"""`python -m manual.playground SITE`: put the playground into the site, a page that runs the unmodified wheel.

Pyodide comes from npm, by the version and the hash that `web/package-lock.json` has; the libraries are those of the
environment that builds, without their compiled parts, which they do without.
"""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from manual import bridge, issues
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.releases.table import known_kubelets
from numalign.sources.machine import bundled

WEB: Final = Path(__file__).parent / "web"
ROOT: Final = WEB.parent.parent
PYODIDE: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""What the page loads of it."""
PAGE: Final = ("index.html", "style.css", "icon.svg", "page.js", "address.js", "worker.js", "service.js")
LIBRARIES: Final = ("click", "rich", "yaml")
"""psutil, which has a compiled part only, is of no use where there is no host."""
ARCHIVED: Final = (2020, 1, 1, 0, 0, 0)


def build(folder: Path) -> None:
    """Write the playground into a folder of the site."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PAGE:
        shutil.copyfile(WEB / name, folder / name)
    shutil.copyfile(bridge.__file__, folder / "bridge.py")
    (folder / "lists.json").write_text(json.dumps(lists()), encoding="utf-8")
    pyodide, wheel, libraries = _pyodide(folder), _wheel(folder), _libraries(folder)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    known = hashlib.sha256()
    for name in files:
        known.update(name.encode() + (folder / name).read_bytes())
    named = {"name": known.hexdigest()[:16], "pyodide": pyodide, "wheel": wheel, "libraries": libraries}
    named_files = ["./", *[name for name in files if name != "index.html"], "build.json"]
    (folder / "build.json").write_text(json.dumps({**named, "files": named_files}), encoding="utf-8")


def lists() -> dict[str, Any]:
    """Give what can be chosen: machines, releases, examples."""
    machines = [{"name": name, "description": bundled.description(name)} for name in bundled.names()]
    versions = [version_text(one.version) for one in reversed(known_kubelets())]
    return {"machines": machines, "versions": versions, "examples": [*examples(), *public_issues()]}


def examples() -> list[dict[str, Any]]:
    """Read the examples; a pod, a machine or a configuration may be a file of the repository."""
    found = yaml.safe_load((WEB / "examples.yaml").read_text(encoding="utf-8"))
    for one in found:
        question = one["question"]
        for key in ("pod", "machineText", "kubelet"):
            name = question.get(key, "")
            if name and "\n" not in name:
                question[key] = (ROOT / name).read_text(encoding="utf-8")
    return list(found)


def public_issues() -> Iterator[dict[str, Any]]:
    """Give the public issues that the page can ask, as examples."""
    for issue in issues.issues():
        question = question_of(issues.words(issue["command"]))
        if question:
            yield {"title": f"{issue['issues']}: {issue['about']}", "question": question}


def question_of(words: Sequence[str]) -> bridge.Question | None:
    """Read what follows `numalign` on a command line as a question of the playground; None: the page cannot ask it."""
    command = " ".join(words[: 2 if words[0] == "config" else 1])
    if command not in bridge.COMMANDS:
        return None
    question: bridge.Question = {"command": command, "flags": {}, "sets": []}
    rest = [part for word in words[command.count(" ") + 1 :] for part in _parted(word)]
    while rest:
        word = rest.pop(0)
        name = bridge.SHORT.get(word.removeprefix("--"), word.removeprefix("--"))
        if not word.startswith("-"):
            key, value = "kubelet" if command == "config check" else "pod", word
        elif not rest or rest[0].startswith("-"):
            return None
        else:
            key, value = {"kubelet-config": "kubelet", "m": "machine"}.get(name.lstrip("-"), name), rest.pop(0)
        if key in bridge.FLAGS and key not in question["flags"]:
            question["flags"][key] = value
        elif key == "set":
            question["sets"].append(value)
        elif key == "machine" and (value in bundled.names() or "=" in value):
            question["machine"] = value
        elif key in ("pod", "kubelet", "beside", "machine") and key not in question and (ROOT / value).is_file():
            question["machineText" if key == "machine" else key] = (ROOT / value).read_text(encoding="utf-8")
        else:
            return None
    return question if question.get("machine") or question.get("machineText") or command == "lint" else None


def _parted(word: str) -> Sequence[str]:
    return word.split("=", 1) if word.startswith("--") and "=" in word else (word,)


def link(question: bridge.Question) -> str:
    """Give the part of an address that holds a question, as `web/address.js` reads it."""
    deflate = zlib.compressobj(9, wbits=-15)
    data = deflate.compress(json.dumps(question, separators=(",", ":")).encode()) + deflate.flush()
    return f"#1.{base64.urlsafe_b64encode(data).decode().rstrip('=')}"


_BLOCK: Final = re.compile(r"(<pre\b[^>]*>.*?</pre>\s*</div>)", re.DOTALL)
_COMMAND: Final = re.compile(r"^\$ numalign ((?:.*\\\n)*.*)", re.MULTILINE)


def open_in(site: Path) -> None:
    """Write "Open in the playground" below each block of the site whose command the page can ask."""
    for path in sorted(site.rglob("index.html")):
        if site / "playground" in path.parents:
            continue
        there = os.path.relpath(site / "playground", path.parent)
        parts = _BLOCK.split(path.read_text(encoding="utf-8"))
        for place in range(1, len(parts), 2):
            found = _COMMAND.search(html.unescape(re.sub(r"<[^>]+>", "", parts[place])))
            question = found and question_of(shlex.split(found[1].replace("\\\n", " ")))
            if question:
                parts[place] += f'<p><a href="{there}/{link(question)}">Open in the playground</a></p>'
        path.write_text("".join(parts), encoding="utf-8")


def _pyodide(folder: Path) -> str:
    """Fetch Pyodide from npm; its folder has the version in its name, so that it is kept for good."""
    if shutil.which("npm") is None:
        raise SystemExit(
            "error: npm is not installed, and the playground's Pyodide comes from it\nfix: install Node.js with npm"
        )
    version = json.loads((WEB / "package.json").read_text(encoding="utf-8"))["dependencies"]["pyodide"]
    name = f"pyodide-{version}"
    (folder / name).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as there:
        for file in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copyfile(WEB / file, Path(there) / file)
        command = ["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=there, check=True)  # noqa: S603 (the project's own lock file)
        for file in PYODIDE:
            shutil.copyfile(Path(there) / "node_modules/pyodide" / file, folder / name / file)
    return name


def _wheel(folder: Path) -> str:
    """Build the wheel as a release does."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    with tempfile.TemporaryDirectory() as there:
        subprocess.run([*command, "--no-build-isolation", "--wheel-dir", there, str(ROOT)], check=True)  # noqa: S603 (as above)
        (wheel,) = Path(there).glob("*.whl")
        shutil.copyfile(wheel, folder / wheel.name)
    return wheel.name


def _libraries(folder: Path) -> str:
    """Put the libraries' Python files into one archive, the same bytes for the same files."""
    name = "libraries-.zip"
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for library in LIBRARIES:
            spec = importlib.util.find_spec(library)
            top = Path((spec and spec.origin) or library).parent
            for path in sorted(top.rglob("*.py")):
                info = zipfile.ZipInfo(path.relative_to(top.parent).as_posix(), ARCHIVED)
                archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()[:12]
    (folder / name).rename(folder / f"libraries-{digest}.zip")
    return f"libraries-{digest}.zip"


if __name__ == "__main__":
    build(Path(sys.argv[1]) / "playground")
    open_in(Path(sys.argv[1]))
