"""Writes what describes a release, in dist/: manifests for krew and Homebrew, checksums, and how it was made.

The templates are in deploy/release/. `provenance.json` is an in-toto statement with SLSA provenance, not signed: a
build service signs its own (.github/workflows/release.yml). Nothing here depends on when or where it runs.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
sys.path.insert(0, str(ROOT))

from numalign.version import ADDRESS, __version__  # noqa: E402

HOMEPAGE = ADDRESS or "https://numalign.example.com"
RELEASE = f"{HOMEPAGE}/releases/v{__version__}"


def sums() -> dict[str, str]:
    """Give the SHA-256 of each file in dist/ by its name."""
    files = sorted(path for path in DIST.iterdir() if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def fill(template: str, name: str) -> None:
    """Write a template with its `{{ names }}` filled in."""
    known = {"version": __version__, "homepage": HOMEPAGE, "address": RELEASE, **sums()}
    text = (ROOT / "deploy" / "release" / template).read_text(encoding="utf-8")
    filled = re.sub(r"\{\{ (\S+) \}\}", lambda match: known[match[1]], text)
    (DIST / name).write_text(filled, encoding="utf-8")


def provenance() -> object:
    """Say of which commit, by which steps and with which packages the files of dist/ were made."""
    asked = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True).stdout.strip()  # noqa: S603 (no input)
    pins = re.findall(r"^(\S+)==(\S+)", (DIST / "constraints.txt").read_text(encoding="utf-8"), re.M)
    source = [{"uri": HOMEPAGE, "digest": {"gitCommit": commit}}] if commit else []
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in sums().items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{HOMEPAGE}/release/v1",
                "externalParameters": {"version": __version__, "entry": ".ci/release"},
                "resolvedDependencies": [*source, *({"uri": f"pkg:pypi/{name}@{pin}"} for name, pin in pins)],
            },
            "runDetails": {"builder": {"id": f"{HOMEPAGE}/release/local"}},
        },
    }


fill("krew.yaml", "numalign.yaml")
fill("homebrew.rb", "numalign.rb")
made = json.dumps(provenance(), indent=2)
lines = "".join(f"{digest}  {name}\n" for name, digest in sums().items())
(DIST / "provenance.json").write_text(f"{made}\n", encoding="utf-8")
(DIST / "SHA256SUMS").write_text(lines, encoding="utf-8")
