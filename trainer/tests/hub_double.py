"""A model hub on this machine: as much of its API as uploads and downloads speak, and a record of what was asked."""

import base64
import hashlib
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
    url: str = ""
    created: list[dict[str, Any]] = field(default_factory=list)
    stored: dict[str, bytes] = field(default_factory=dict)  # large files, by their SHA-256
    commits: list[dict[str, bytes]] = field(default_factory=list)  # path -> content
    tokens: set[str | None] = field(default_factory=set)
    gated: bool = False
    cut: set[str] = field(default_factory=set)  # of these a download ends in the middle
    sent: dict[str, int] = field(default_factory=dict)  # bytes of each file that left
    wrong: set[str] = field(default_factory=set)  # of these another content is sent than is named


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

        def do_HEAD(self) -> None:  # noqa: N802
            self.do_GET()

        def do_GET(self) -> None:  # noqa: N802
            path = self.path.split("?")[0]
            if "/resolve/" in path:
                self.send_file(path.partition("/resolve/")[2].partition("/")[2])
            elif not hub.files or "/api/models/" not in path:
                self.send_response(404)
                self.send_header("X-Error-Code", "RepoNotFound")
                self.end_headers()
            elif "/tree/" in path:
                self.answer(200, [_listed(name, content) for name, content in hub.files.items()])
            else:
                siblings = [{**_listed(name, body), "rfilename": name} for name, body in hub.files.items()]
                for one in siblings:
                    one["lfs"] = one["lfs"] and {**one["lfs"], "sha256": one["lfs"]["oid"]}
                self.answer(200, {"id": "me/tiny", "sha": COMMIT, "siblings": siblings, "gated": hub.gated})

        def send_file(self, name: str) -> None:
            content = hub.files.get(name)
            if content is None or hub.gated:
                self.send_response(403 if hub.gated else 404)
                self.send_header("X-Error-Code", "GatedRepo" if hub.gated else "EntryNotFound")
                self.end_headers()
                return
            digest = hashlib.sha256(content).hexdigest()
            begin = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
            body = (content[::-1] if name in hub.wrong else content)[begin:]
            self.send_response(206 if begin else 200)
            self.send_header("ETag", f'"{digest}"')
            self.send_header("X-Repo-Commit", COMMIT)
            if begin:
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "HEAD":
                return
            body = body[: len(body) // 2] if name in hub.cut else body
            hub.sent[name] = hub.sent.get(name, 0) + len(body)
            self.wfile.write(body)
            self.close_connection = True

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


def _listed(name: str, content: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    git = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    lfs = {"oid": digest, "size": len(content), "pointerSize": 100} if name.endswith(".safetensors") else None
    return {"type": "file", "path": name, "size": len(content), "oid": git, "blobId": git, "lfs": lfs}


def _mode(path: str) -> dict[str, Any]:
    return {"path": path, "uploadMode": "lfs" if path.endswith(".safetensors") else "regular", "shouldIgnore": False}


def _committed(body: bytes, stored: dict[str, bytes]) -> dict[str, bytes]:
    files = {}
    for entry in map(json.loads, body.splitlines()):
        value = entry["value"]
        if entry["key"] == "file":
            files[value["path"]] = base64.b64decode(value["content"])
        elif entry["key"] == "lfsFile":
            files[value["path"]] = stored[value["oid"]]
    return files
