"""The site as a static host sends it: compressed, cacheable, and counted."""

from __future__ import annotations

import gzip
import mimetypes
import threading
from collections import Counter
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

BARE = """\
<!doctype html><meta charset="utf-8"><title>bare</title><script type="module" src="bare.js"></script>"""
BARE_SCRIPT = """\
import { loadPyodide } from "./PYODIDE/pyodide.mjs";
const python = await loadPyodide({ indexURL: new URL("PYODIDE/", import.meta.url).href });
document.title = `answered ${python.runPython("1 + 1")}`;
"""
"""A page that only starts the same Pyodide and evaluates 1 + 1: what the playground's start is held against."""
COMPRESSED = (".html", ".js", ".mjs", ".css", ".json", ".svg", ".wasm", ".py", ".xml", ".txt")


@cache
def _packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 9, mtime=0)


class Site(ThreadingHTTPServer):
    """A site on loopback."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.sent: Counter[str] = Counter()
        (pyodide,) = (folder / "playground").glob("pyodide-*")
        script = BARE_SCRIPT.replace("PYODIDE", pyodide.name)
        self.extra = {"/playground/bare.html": BARE.encode(), "/playground/bare.js": script.encode()}
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        assert isinstance(self.server, Site)
        asked = unquote(urlsplit(self.path).path)
        path = (self.server.folder / asked.lstrip("/")).resolve()
        if path.is_dir():
            path /= "index.html"
        packed = path.suffix in COMPRESSED
        if asked in self.server.extra:
            data, packed = self.server.extra[asked], False
        elif path.is_file() and path.is_relative_to(self.server.folder):
            data = _packed(path) if packed else path.read_bytes()
        else:
            self.send_error(404)
            return
        self.server.sent[asked] += len(data)
        kind = {".mjs": "text/javascript", ".wasm": "application/wasm"}.get(path.suffix)
        self.send_response(200)
        self.send_header("Content-Type", kind or mimetypes.guess_type(asked)[0] or "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "max-age=600")
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
        """Say nothing."""
