"""What travels between a node and an object store: on fsspec's own file system, which is a store of folders."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint_node.carrier import Carrier
from imprint_node.fetch import Gone, Store, fetch, patiently, refusal
from imprint_node.segments import Segments

NAME = "jobs/i/j/t"
CARRY = {"needs": ["models/m"], "poll_seconds": 60.0, "patience_seconds": 0.05}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    there = tmp_path / "there"
    (there / NAME / "requests").mkdir(parents=True)
    (there / NAME / "log.txt").mkdir()
    (there / NAME / "attempt.json").write_text(json.dumps({"carry": CARRY}))
    (there / "models" / "m").mkdir(parents=True)
    (there / "models" / "m" / "weights").write_text("w")
    copy = tmp_path / "copy"
    return {"IMPRINT_STORE": f"file://{there}", "IMPRINT_COPY": str(copy), "IMPRINT_ATTEMPT": str(copy / NAME)}


def carrier_of(env: dict[str, str]) -> tuple[Carrier, Path, Path]:
    here = Path(env["IMPRINT_ATTEMPT"])
    return Carrier(here, NAME, Store(env), CARRY), here, Path(env["IMPRINT_STORE"].removeprefix("file://"))


def test_an_attempt_is_fetched_with_what_it_needs_and_is_not_fetched_twice(env: dict[str, str]) -> None:
    fetch(env)
    here = Path(env["IMPRINT_ATTEMPT"])
    assert sorted(path.name for path in here.iterdir()) == [
        "attempt.json",
        "checkpoint",
        "log.txt",
        "output",
        "requests",
    ]
    assert (here / "log.txt").read_text() == "The node fetches what the job reads.\n"
    assert (Path(env["IMPRINT_COPY"]) / "models" / "m" / "weights").read_text() == "w"
    with pytest.raises(Gone, match="under way"):
        fetch(env)


def test_an_attempt_that_was_taken_back_is_not_begun(env: dict[str, str]) -> None:
    (Path(env["IMPRINT_STORE"].removeprefix("file://")) / NAME / "attempt.json").unlink()
    with pytest.raises(Gone):
        fetch(env)
    assert not Path(env["IMPRINT_ATTEMPT"]).exists()


def test_the_end_is_stored_last_and_the_copy_is_removed(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(env)
    carrier, here, there = carrier_of(env)
    carrier.start()
    stored: list[str] = []
    monkeypatch.setattr(Store, "put_file", lambda _, path, name: stored.append(name))
    monkeypatch.setattr(Store, "put", lambda _, name, content: stored.append(name))
    for name in ("events.ndjson", "output/a.bin", "checkpoint/1.safetensors", "checkpoint/checkpoint.json"):
        (here / name).write_text("x")
    with (here / "log.txt").open("a") as log:
        log.write("x")
    (here / "output" / "link").symlink_to("/etc/hostname")
    (here / "end.json").write_text("{}")
    assert carrier.finish(0) == 0
    assert [name.removeprefix(f"{NAME}/") for name in stored] == [
        "events.ndjson/000000",
        "log.txt/000001",
        "checkpoint/1.safetensors",
        "checkpoint/checkpoint.json",
        "output/a.bin",
        "end.json",
    ]
    assert not here.exists()
    assert (there / NAME / "attempt.json").exists()


def test_an_attempt_that_is_gone_takes_what_it_left_with_it(env: dict[str, str]) -> None:
    fetch(env)
    carrier, here, there = carrier_of(env)
    carrier.start()
    (there / NAME / "attempt.json").unlink()
    (there / NAME / "stray").write_text("")
    (here / "end.json").write_text("{}")
    assert carrier.finish(0) == 3
    assert not (there / NAME / "stray").exists()
    assert not (there / NAME / "end.json").exists()


@pytest.mark.parametrize(
    ("error", "code"),
    [(PermissionError("denied"), "STORAGE_FAILED"), (ConnectionError("cut"), None), (OSError("full"), "DISK_FULL")],
)
def test_a_store_that_takes_nothing_is_reported_by_the_exit_status_and_the_last_line(
    error: Exception, code: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        if code == "DISK_FULL":
            error.__cause__ = Answered()
        raise error

    with contextlib.suppress(Exception):
        fail()
    assert refusal(error) == code
    assert patiently(fail, "the results could not be stored", patience=0.02, poll=0.001) == 4
    assert capsys.readouterr().err.startswith(f"{code or 'STORAGE_FAILED'}: the results could not be stored (")


class Answered(Exception):  # noqa: N818  as botocore's ClientError
    response: dict[str, Any] = {"Error": {"Code": "XMinioStorageFull"}, "ResponseMetadata": {"HTTPStatusCode": 507}}


@given(st.lists(st.tuples(st.binary(max_size=20), st.booleans()), max_size=12))
def test_parts_are_the_file_in_order_whatever_answers_are_lost(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[bytes, bool]]
) -> None:
    path = tmp_path_factory.mktemp("segments") / "events"
    parts: dict[int, bytes] = {}
    lost = False

    def put(number: int, content: bytes) -> None:
        assert parts.setdefault(number, content) == content
        if lost:
            raise ConnectionError

    segments = Segments(path, put)
    segments.carry()
    assert parts == {}
    path.touch()
    for content, loses in writes:
        lost = loses
        with path.open("ab") as file:
            file.write(content)
        with contextlib.suppress(ConnectionError):
            segments.carry()
    lost = False
    segments.carry()
    assert list(parts) == list(range(len(parts)))
    assert b"".join(parts.values()) == path.read_bytes()
