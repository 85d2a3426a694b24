"""Processes of the live host: the kubelet that runs on it."""

from __future__ import annotations


def running_kubelet() -> list[str] | None:
    """Return the command line of the running kubelet, without its name; None: none runs, or it may not be seen."""
    import psutil

    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or []
        program = words[0].rpartition("/")[2] if words else ""
        if program == "kubelet" or (program == "hyperkube" and words[1:2] == ["kubelet"]):
            return [str(word) for word in words[1:]]
    return None


def kubelet_version() -> str:
    """Ask the running kubelet's program for its version, `v1.32.10`; empty: it does not say."""
    import subprocess

    import psutil

    for process in psutil.process_iter(["name"]):
        if process.info["name"] != "kubelet":
            continue
        try:
            done = subprocess.run(  # noqa: S603 (the program that runs already, and only asked who it is)
                [process.exe(), "--version"], capture_output=True, text=True, timeout=5, check=True
            )
        except (psutil.Error, OSError, subprocess.SubprocessError):
            return ""
        return done.stdout.strip().rpartition(" ")[2]
    return ""
