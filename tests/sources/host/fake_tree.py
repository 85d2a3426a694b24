"""A tree in memory, for hosts that no archive can show."""

from __future__ import annotations

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"

Files = dict[str, str | OSError | None]


class FakeTree:
    """A tree in memory; a value that is an exception is raised instead of read, None is not there."""

    name = "fake"
    live = False

    def __init__(self, files: Files) -> None:
        self.files = {path: text for path, text in files.items() if text is not None}

    def read(self, path: str) -> str:
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", f"/{path}")
        text = self.files[path]
        if isinstance(text, OSError):
            text.filename = f"/{path}"
            raise text
        return text

    def names(self, path: str) -> list[str]:
        if isinstance(self.files.get(path), OSError):
            self.read(path)
        found = sorted({name[len(path) + 1 :].split("/")[0] for name in self.files if name.startswith(f"{path}/")})
        if not found:
            raise FileNotFoundError(2, "No such file or directory", f"/{path}")
        return found

    def target(self, path: str) -> str:
        raise OSError(22, "Invalid argument", path)

    def resolve(self, path: str) -> str:
        return path


def two_cpus() -> Files:
    """Two CPUs on one node, with everything there is to read."""
    files: Files = {
        f"{CPU}/online": "0-1\n",
        "proc/meminfo": "MemTotal:       2048 kB\n",
        f"{NODE}/node0/meminfo": "Node 0 MemTotal:       1024 kB\n",
        f"{NODE}/node0/distance": "10\n",
        f"{NODE}/node0/cpulist": "0-1\n",
        f"{NODE}/node0/hugepages/hugepages-2048kB/nr_hugepages": "3\n",
    }
    for cpu in (0, 1):
        files[f"{NODE}/node0/cpu{cpu}/x"] = ""
        files[f"{CPU}/cpu{cpu}/topology/core_id"] = f"{cpu}\n"
        files[f"{CPU}/cpu{cpu}/topology/physical_package_id"] = "0\n"
        files[f"{CPU}/cpu{cpu}/topology/core_cpus_list"] = f"{cpu}\n"
    return files
