from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from serve.conftest import Spec
from serve.running import RunningWorker, is_progress

DATA = ("session_path", "base_model", "max_length", "include_unsuccessful")


def preview_spec(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: spec[key] for key in DATA}


def test_a_preview_is_answered_while_a_job_trains_with_the_numbers_of_its_plan(
    worker: RunningWorker, lora_spec: Spec, new_job_id: Callable[[], str]
) -> None:
    spec = lora_spec(epochs=None, learning_rate=1e-6)
    worker.send({"type": "train_lora", "job_id": new_job_id(), "spec": spec})
    events = worker.collect(is_progress)
    plan = next(event["plan"] for event in events if event["type"] == "plan")
    worker.send({"type": "preview", "call_id": "p", "spec": preview_spec(spec)})
    order = worker.collect(lambda event: event["type"] in ("done", "failed"))
    answer = next(event for event in order if event["type"] == "answer")
    assert order[-1]["type"] == "done"
    shared = ("windows", "tokens", "supervised_tokens", "supervised_turns", "max_steps", "dropped")
    assert {name: answer["result"][name] for name in shared} == {name: plan[name] for name in shared}


def test_a_preview_that_fails_names_the_cause(worker: RunningWorker, lora_spec: Spec) -> None:
    answer = worker.call("preview", preview_spec(lora_spec(session_path="/nowhere/s9.json")))
    assert (answer["type"], answer["error"]["code"]) == ("call_failed", "SESSION_INVALID")


@pytest.fixture
def chat_spec(lora_spec: Spec) -> Callable[..., dict[str, Any]]:
    def make(**changes: Any) -> dict[str, Any]:
        return {
            "base_model": lora_spec()["base_model"],
            "adapter_path": None,
            "messages": [{"role": "user", "content": "Please fix it."}],
            "max_tokens": 12,
            "temperature": 0,
            "seed": 1,
        } | changes

    return make


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
        {"role": "user", "content": "Why does parse_price drop 1,299.00?"},
        {"role": "assistant", "content": "The comma is no digit, so the conversion fails."},
        {"role": "user", "content": "Please fix it."},
    ]
    learned = worker.call("chat", chat_spec(adapter_path=spec["output_dir"], messages=talk, max_tokens=60))["result"]
    assert learned["text"] == "Commas that group thousands are removed now, and the tests pass."
    assert learned["finish_reason"] == "stop"
    assert worker.call("chat", chat_spec())["result"] == bare


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
        ({"messages": []}, "TRAINER_ERROR"),
        ({"messages": [{"role": "user", "content": "x " * 2000}]}, "TRAINER_ERROR"),
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
