"""Folders that refuse every write, root's too, as a read-only file system does: a sentence, never a trace."""

import json
from pathlib import Path
from typing import Any

import pytest

from data.sessions import agent, session_json, user
from data.test_select import spec_of
from imprint_trainer.errors import FilesDenied, machine_failures
from imprint_trainer.jobs import export
from imprint_trainer.jobs.worker import Worker
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.protocol import ChatCall, PreviewCall, TrainLora
from imprint_trainer.publish.peft_format import write_weights
from imprint_trainer.serve import answer, run_job
from jobs.tiny import tiny_job
from training import settings, train_tiny

REFUSED = Path("/sys")
SENTENCE = "The trainer may not use a file: permission is denied"


def job_in(folder: Path, base: Path, **changes: Any) -> TrainLora:
    session = folder / "s.json"
    session.write_text(json.dumps(session_json([user("Fix it."), agent("Fixed.")])))
    data = spec_of([session], base_model=str(base), epochs=1).model_dump() | tiny_job(folder) | changes
    return TrainLora.model_validate({"type": "train_lora", "job_id": "0" * 26, "spec": data})


def test_a_job_whose_folder_refuses_its_files_fails_with_the_sentence(
    tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Board:
        cancelled = staticmethod(lambda: False)

    class Channel:
        send = staticmethod(lambda _: None)

    job = job_in(tmp_path, tiny_folder, output_dir=str(REFUSED / "imprint"))
    last = run_job(Worker(device="cpu", threads=None), Board, Channel, job)  # type: ignore[arg-type]
    assert last["type"] == "failed"
    assert last["error"] == {"code": "FILES_DENIED", "message": f"{SENTENCE} (EPERM).", "hint": FilesDenied.hint}
    log = capsys.readouterr().err
    assert "Traceback" not in log and str(REFUSED / "imprint") in log


def test_weights_that_are_refused_are_known_by_the_words_of_safetensors(base: LoadedBase, windows: list[Any]) -> None:
    _, payload = train_tiny(base, windows[:1], settings(epochs=1))
    with pytest.raises(FilesDenied, match=r"permission is denied \(EACCES\)"), machine_failures():
        write_weights(REFUSED, payload)


@pytest.mark.parametrize("kind", [PreviewCall, ChatCall])
def test_a_call_that_reads_what_is_refused_is_answered_with_the_sentence(
    kind: type, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(_: object) -> dict[str, Any]:
        (REFUSED / "imprint").mkdir()
        return {}

    told = answer(refused, kind.model_construct(call_id="c", spec=None))  # type: ignore[attr-defined]
    assert told["type"] == "call_failed" and told["error"]["code"] == "FILES_DENIED"
    assert "Traceback" not in capsys.readouterr().err


def test_a_command_ends_with_the_sentence(tiny_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = REFUSED / "imprint" / "model.gguf"
    assert export.main(["--base", str(tiny_folder), "--out", str(out)]) == 1
    assert f"{SENTENCE} (EPERM). Let the service's user" in capsys.readouterr().err
