"""A model hub on this machine: as much of its API as uploads and downloads speak, and a record of what was asked."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hf_double0123456789"
COMMIT = "c" * 40


@dataclass
class Hub:
    """`refuse`: the status that every call is answered with."""

    refuse: int | None = None
    files: dict[str, bytes] = field(default_factory=dict)  # of every repository, by path
    fetched: set[str] = field(default_factory=set)
    url: str = ""
    created: list[dict[str, Any]] = field(default_factory=list)
    stored: dict[str, bytes] = field(default_factory=dict)  # large files, by their SHA-256
    commits: list[dict[str, bytes]] = field(default_factory=list)  # path -> content
    tokens: set[str | None] = field(default_factory=set)


@contextmanager
def hub_double(refuse: int | None = None, files: dict[str, bytes] | None = None) -> Iterator[Hub]:
    hub = Hub(refuse, files or {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    hub.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def answer(self, status: int, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def body(self) -> bytes:
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))

        def do_GET(self) -> None:  # noqa: N802
            path = self.path.split("?")[0]
            if path.endswith("/revision/main"):
                self.answer(200, {"id": "me/gates", "sha": COMMIT})
            elif path.endswith(f"/tree/{COMMIT}"):
                sizes = {name: len(content) for name, content in hub.files.items()}
                tree = [{"type": "file", "path": name, "size": size, "oid": name} for name, size in sizes.items()]
                self.answer(200, tree)
            elif (name := path.partition(f"/resolve/{COMMIT}/")[2]) in hub.files:
                hub.fetched.add(name)
                self.give(name)
                self.wfile.write(hub.files[name])
            else:
                self.answer(404, {})

        def do_HEAD(self) -> None:  # noqa: N802
            self.give(self.path.partition(f"/resolve/{COMMIT}/")[2])

        def give(self, name: str) -> None:
            self.send_response(200)
            for header, value in (("Content-Length", len(hub.files[name])), ("ETag", f'"{name.replace("/", "-")}"')):
                self.send_header(header, str(value))
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()

        def do_PUT(self) -> None:  # noqa: N802
            hub.stored[self.path.rsplit("/", 1)[-1]] = self.body()
            self.answer(200, {})

        def do_POST(self) -> None:  # noqa: N802
            body = self.body()
            hub.tokens.add(self.headers.get("Authorization"))
            if hub.refuse is not None:
                self.answer(hub.refuse, {"error": "no"})
            elif self.path == "/api/repos/create":
                hub.created.append(json.loads(body))
                self.answer(200, {"url": f"{hub.url}/{json.loads(body)['organization']}/{json.loads(body)['name']}"})
            elif self.path == "/api/validate-yaml":
                self.answer(200, {"errors": [], "warnings": []})
            elif "/preupload/" in self.path:
                self.answer(200, {"files": [_mode(file["path"]) for file in json.loads(body)["files"]]})
            elif self.path.endswith("/info/lfs/objects/batch"):
                self.answer(
                    200, {"transfer": "basic", "objects": [self.upload(o) for o in json.loads(body)["objects"]]}
                )
            elif "/commit/" in self.path:
                hub.commits.append(_committed(body, hub.stored))
                self.answer(200, {"commitUrl": f"{hub.url}/me/gates/commit/{COMMIT}", "commitOid": COMMIT})
            else:
                self.answer(404, {"error": self.path})

        def upload(self, item: dict[str, Any]) -> dict[str, Any]:
            return {**item, "actions": {"upload": {"href": f"{hub.url}/store/{item['oid']}"}}}

    return Handler


def _mode(path: str) -> dict[str, Any]:
    return {
        "path": path,
        "uploadMode": "lfs" if path.endswith(".safetensors") else "regular",
        "shouldIgnore": False,
    }


def _committed(body: bytes, stored: dict[str, bytes]) -> dict[str, bytes]:
    files = {}
    for entry in map(json.loads, body.splitlines()):
        value = entry["value"]
        if entry["key"] == "file":
            files[value["path"]] = base64.b64decode(value["content"])
        elif entry["key"] == "lfsFile":
            files[value["path"]] = stored[value["oid"]]
    return files
