from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imprint_trainer.protocol import PreviewSpec
from serve.conftest import Spec, said
from serve.running import RunningWorker, is_progress

DATA = tuple(PreviewSpec.model_fields)
SIZES = ("windows", "tokens", "supervised_tokens", "supervised_turns", "max_steps")
SHARED = (*SIZES, "dropped", "changed", "shared", "skipped")


def preview_spec(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: spec[key] for key in DATA}


def test_a_preview_is_answered_while_a_job_trains_with_the_numbers_of_its_plan(
    worker: RunningWorker, lora_spec: Spec, new_job_id: Callable[[], str]
) -> None:
    spec, job = lora_spec(epochs=100, learning_rate=1e-6), new_job_id()  # longer than any answer takes
    worker.send({"type": "train_lora", "job_id": job, "spec": spec})
    events = worker.collect(is_progress)
    plan = next(event["plan"] for event in events if event["type"] == "plan")
    worker.send(
        {"type": "preview", "call_id": "p", "spec": preview_spec(spec), "window": None, "tokens_per_second": None}
    )
    answer = worker.until(lambda event: event["type"] in ("answer", "done", "failed"))
    assert answer["type"] == "answer"
    worker.send({"type": "cancel", "job_id": job})
    assert worker.until(lambda event: event["type"] in ("done", "cancelled"))["type"] == "cancelled"
    assert {name: answer["result"][name] for name in SHARED} == {name: plan[name] for name in SHARED}


@pytest.mark.parametrize(
    ("changes", "turns"),
    [
        ({}, 4),
        ({"train_on": "successful_steps"}, 3),
        ({"train_on": "final_answer"}, 2),
        ({"train_on": "final_answer", "reasoning": True}, 2),
        ({"reasoning": True, "epochs": None, "max_length": 128}, 4),
        ({"train_on": {"turns": [3]}}, 2),
    ],
)
def test_the_preview_of_several_sessions_equals_the_plan_of_their_job(
    worker: RunningWorker,
    lora_spec: Spec,
    new_job_id: Callable[[], str],
    session_path: Path,
    other_path: Path,
    changes: dict[str, Any],
    turns: int,
) -> None:
    both = {"session_paths": [str(session_path), str(other_path)], "session_ids": ["s1", "s2"]}
    spec = lora_spec(**{"epochs": 1, **both, **changes})
    shown = worker.call("preview", preview_spec(spec))["result"]
    job = new_job_id()
    worker.send({"type": "train_lora", "job_id": job, "spec": spec})
    plan = worker.until(lambda event: event["type"] == "plan")["plan"]
    worker.send({"type": "cancel", "job_id": job})
    worker.until(lambda event: event["type"] in ("done", "cancelled"))
    assert {name: shown[name] for name in SHARED} == {name: plan[name] for name in SHARED}
    assert shown["supervised_turns"] == turns
    learned = "".join(span["text"] for window in shown["text"] for span in window if span["supervised"])
    assert ("Now it is right." in learned) == changes.get("reasoning", False)


def test_an_unsuccessful_session_among_several_is_named(
    worker: RunningWorker, lora_spec: Spec, session_path: Path, other_path: Path
) -> None:
    other_path.write_text(other_path.read_text().replace('"success"', '"failure"'))
    spec = lora_spec(session_paths=[str(session_path), str(other_path)], session_ids=["s1", "s2"])
    error = worker.call("preview", preview_spec(spec))["error"]
    assert (error["code"], error["message"]) == ("SESSION_UNSUCCESSFUL", "The session s2 ended in failure.")


def test_a_preview_that_fails_names_the_cause(worker: RunningWorker, lora_spec: Spec) -> None:
    answer = worker.call("preview", preview_spec(lora_spec(session_paths=["/nowhere/s9.json"])))
    assert (answer["type"], answer["error"]["code"]) == ("call_failed", "SESSION_INVALID")


def test_the_prompt_of_a_chat_is_rendered_while_a_job_trains_as_the_chat_counts_it(
    worker: RunningWorker, lora_spec: Spec, new_job_id: Callable[[], str], chat_spec: Callable[..., dict[str, Any]]
) -> None:
    spec = chat_spec(max_tokens=4)
    job = new_job_id()
    worker.send({"type": "train_lora", "job_id": job, "spec": lora_spec(epochs=100, learning_rate=1e-6)})
    worker.until(is_progress)
    worker.send({"type": "render", "call_id": "r", "spec": spec})
    result = worker.until(lambda event: event["type"] == "answer")["result"]
    worker.send({"type": "cancel", "job_id": job})
    worker.until(lambda event: event["type"] in ("done", "cancelled"))
    assert result["prompt_tokens"] == len(result["tokens"])
    assert result["max_new_tokens"] == 4
    assert worker.call("chat", spec)["result"]["prompt_tokens"] == result["prompt_tokens"]


def test_the_base_answers_greedily_and_counts_its_tokens(
    worker: RunningWorker, chat_spec: Callable[..., dict[str, Any]]
) -> None:
    first, second = (worker.call("chat", chat_spec(seed=seed))["result"] for seed in (1, 2))
    assert first == second
    assert first["prompt_tokens"] > 10
    assert first["finish_reason"] in ("stop", "length")
    assert 1 <= first["completion_tokens"] <= 12


def test_sampling_depends_on_the_seed_alone(worker: RunningWorker, chat_spec: Callable[..., dict[str, Any]]) -> None:
    one, same, other = (worker.call("chat", chat_spec(seed=s, temperature=2))["result"] for s in (1, 1, 2))
    assert one == same
    assert one["text"] != other["text"]


def test_an_adapter_answers_what_it_learned_and_is_gone_afterwards(
    worker: RunningWorker, lora_spec: Spec, new_job_id: Callable[[], str], chat_spec: Callable[..., dict[str, Any]]
) -> None:
    bare = worker.call("chat", chat_spec())["result"]
    spec = lora_spec(epochs=100, rank=16, alpha=32, learning_rate=0.01)
    assert worker.job(new_job_id(), spec)[-1]["type"] == "done"
    talk = [
        said("user", "Why does parse_price drop 1,299.00?"),
        said("assistant", "The comma is no digit, so the conversion fails."),
        said("user", "Please fix it."),
    ]
    learned = worker.call("chat", chat_spec(adapter_path=spec["output_dir"], messages=talk, max_tokens=60))["result"]
    assert learned["text"] == "Commas that group thousands are removed now, and the tests pass."
    assert learned["finish_reason"] == "stop"
    assert worker.call("chat", chat_spec())["result"] == bare


def test_a_streamed_chat_tells_the_text_of_its_answer_piece_by_piece(
    worker: RunningWorker, chat_spec: Callable[..., dict[str, Any]]
) -> None:
    spec = chat_spec(temperature=1, max_tokens=40)
    whole = worker.call("chat", spec)["result"]
    worker.send({"type": "chat", "call_id": "streamed", "spec": spec | {"stream": True}})
    prompt, *pieces, last = worker.collect(lambda event: event["type"] in ("answer", "call_failed"))
    assert last["result"] == whole
    assert (prompt["type"], prompt["prompt"]["prompt_tokens"]) == ("prompt", whole["prompt_tokens"])
    assert {(event["type"], event["call_id"]) for event in pieces} == {("token", "streamed")}
    assert "".join(event["text"] for event in pieces) == whole["text"]
    assert len(pieces) > 1


def test_chats_between_trainings_change_no_byte(
    worker: RunningWorker,
    lora_spec: Spec,
    new_job_id: Callable[[], str],
    chat_spec: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    specs = [lora_spec(epochs=2, output_dir=str(tmp_path / name)) for name in ("first", "second")]
    chats = [
        chat_spec(temperature=1.5, seed=3),
        chat_spec(temperature=1.5, seed=3, adapter_path=specs[0]["output_dir"], stream=True),
    ]
    worker.send({"type": "train_lora", "job_id": new_job_id(), "spec": specs[0]})
    for call_id, chat in zip(("base", "adapter"), chats, strict=True):  # they wait while the first one trains
        worker.send({"type": "chat", "call_id": call_id, "spec": chat})
    worker.send({"type": "train_lora", "job_id": new_job_id(), "spec": specs[1]})
    verdicts = ("done", "failed", "answer", "call_failed")
    ends = [worker.until(lambda event: event["type"] in verdicts) for _ in range(4)]
    assert [event["type"] for event in ends] == ["done", "answer", "answer", "done"]
    assert ends[0]["result"] == ends[3]["result"]


ENDLESS = {"max_tokens": 100_000, "temperature": 2}  # to the end of the context: sampling rarely stops by itself


def test_chats_that_are_cancelled_are_answered_and_the_worker_serves_the_next(
    worker: RunningWorker, chat_spec: Callable[..., dict[str, Any]]
) -> None:
    worker.send({"type": "chat", "call_id": "running", "spec": chat_spec(**ENDLESS)})
    worker.send({"type": "chat", "call_id": "waiting", "spec": chat_spec(**ENDLESS)})
    worker.send({"type": "cancel_call", "call_id": "waiting"})
    worker.send({"type": "cancel_call", "call_id": "running"})
    ended = [worker.until(lambda event: event["type"] in ("answer", "call_failed")) for _ in range(2)]
    assert [(event["type"], event["call_id"]) for event in ended] == [
        ("call_failed", "waiting"),
        ("call_failed", "running"),
    ]
    assert worker.call("chat", chat_spec())["type"] == "answer"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"adapter_path": "/nowhere/adapter"}, "ADAPTER_INVALID"),
        ({"base_model": "/nowhere/model"}, "BASE_MODEL_NOT_FOUND"),
        ({"messages": []}, "PROMPT_REFUSED"),
        ({"messages": [said("user", "x " * 2000)]}, "CONTEXT_LENGTH_EXCEEDED"),
    ],
)
def test_a_chat_that_fails_names_the_cause(
    worker: RunningWorker, chat_spec: Callable[..., dict[str, Any]], changes: dict[str, Any], code: str
) -> None:
    answer = worker.call("chat", chat_spec(**changes))
    assert (answer["type"], answer["error"]["code"]) == ("call_failed", code)
    assert "/nowhere" not in answer["error"]["message"]


def test_a_pickled_adapter_is_never_opened(
    worker: RunningWorker, chat_spec: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text(
        '{"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"]}'
    )
    (folder / "adapter_model.bin").write_bytes(b"cbuiltins\neval\n")
    answer = worker.call("chat", chat_spec(adapter_path=str(folder)))
    assert answer["error"]["code"] == "ADAPTER_INVALID"
    assert "adapter_model.safetensors" in answer["error"]["message"]
