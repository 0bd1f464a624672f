"""A training that may take so much time: what fits is chosen, and a machine that gets slower ends it in time."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from data.sessions import agent, session_json, user
from data.test_select import spec_of
from imprint_trainer.errors import Cancelled, TimeTooShort
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.lora import train_lora
from imprint_trainer.jobs.preview import UNKNOWN, preview_sessions
from imprint_trainer.lora import steps as planning
from imprint_trainer.lora import within
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.locate import tokenizer_of
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.protocol import PreviewSpec, TrainLoraSpec
from jobs.tiny import tiny_job

SPEED = 100.0  # tokens a second of a step


class Machine:
    """Its clock goes on by what is read: a third of a step's time where nothing is learned."""

    def __init__(self) -> None:
        self.now, self.speed, self.slower_after = 0.0, SPEED, float("inf")

    def __call__(self) -> float:
        return self.now

    @contextmanager
    def reading(self, base: LoadedBase) -> Iterator[None]:
        def read(_: object, arguments: tuple[torch.Tensor, ...]) -> None:
            speed = self.speed / (4 if self.now > self.slower_after else 1)
            self.now += arguments[0].numel() * (1 if torch.is_grad_enabled() else within.FORWARD) / speed

        hook = base.model.get_input_embeddings().register_forward_pre_hook(read)  # type: ignore[attr-defined]
        try:
            yield
        finally:
            hook.remove()


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "STEP_TOKENS", 60)
    monkeypatch.setattr(within, "LEAST_TOKENS", 100)


def job(folder: Path, base: Path, time: str | None, start: str = "fresh", turns: int = 40) -> TrainLoraSpec:
    steps = [step for n in range(turns) for step in (user(f"Fix number {n} of it."), agent(f"Number {n} is fixed."))]
    session = folder / "s.json"
    session.write_text(json.dumps(session_json(steps)))
    (folder / "out").mkdir(exist_ok=True)
    asked: dict[str, Any] = {"profile": "learn", "max_length": 128, "epochs": 6, "within": time}
    data = spec_of([session], base_model=str(base), **asked).model_dump()
    changes = tiny_job(folder)
    changes["checkpoint"]["start"], changes["learning_rate"] = start, 1e-6  # so small that nothing ends it early
    return TrainLoraSpec.model_validate(data | changes)


def run(spec: TrainLoraSpec, base: LoadedBase, machine: Machine, stop_after: int | None = None) -> dict[str, Any]:
    """The plan, the last step, the result and how long it took."""
    events: list[dict[str, Any]] = []

    def cancelled() -> bool:
        return stop_after is not None and sum(event["type"] == "progress" for event in events) >= stop_after

    context = JobContext(
        events.append, cancelled, lambda *_, **__: base, tokenizer_of, PeakMemory(base.device), clock=machine
    )
    machine.now, result = 0.0, None
    with machine.reading(base), suppress(Cancelled):
        result = train_lora(spec, context)
    progress = [event["progress"] for event in events if event["type"] == "progress"]
    plan = next(event["plan"] for event in events if event["type"] == "plan")
    return {"plan": plan, "steps": [one["step"] for one in progress], "result": result, "seconds": machine.now}


def preview_of(spec: TrainLoraSpec) -> PreviewSpec:
    return PreviewSpec.model_validate(spec.model_dump(include=set(PreviewSpec.model_fields)))


def clear(folder: Path) -> None:
    for path in (folder / "out").iterdir():
        path.unlink()


@pytest.mark.parametrize(("time", "passes", "all_windows"), [("10m", 6, True), ("4m", 4, True), ("80s", 1, False)])
def test_passes_are_given_up_first_and_then_windows(
    base: LoadedBase, tiny_folder: Path, tmp_path: Path, machine: Machine, time: str, passes: int, all_windows: bool
) -> None:
    asked = preview_of(job(tmp_path, tiny_folder, None))
    whole = preview_sessions(asked, base.tokenizer, device="cpu")
    told = run(job(tmp_path, tiny_folder, time), base, machine)
    plan = told["plan"]
    assert (plan["windows"] == whole["windows"]) == all_windows
    assert told["steps"][-1] == plan["max_steps"]
    assert (plan["max_steps"] == whole["max_steps"]) == (passes == 6)
    assert told["seconds"] < within.seconds_of(time)
    assert told["seconds"] > 0.6 * within.seconds_of(time) or passes == 6
    if not all_windows:
        left = whole["supervised_turns"] - plan["supervised_turns"]
        assert {"reason": "no_time", "count": left} in plan["dropped"]
    remark = plan["remarks"][-1]
    assert re.match(rf"Within {time}, at 10[01] tokens/s: {passes} of at most 6 passes over ", remark)
    assert remark.endswith(f"{plan['max_steps']} of {whole['max_steps']} steps.")
    assert remark in told["result"]["proof"]["remarks"]
    assert f"- {remark}" in (tmp_path / "out" / "README.md").read_text()


def test_what_is_chosen_is_the_most_that_fits(
    base: LoadedBase, tiny_folder: Path, tmp_path: Path, machine: Machine
) -> None:
    taken = []
    for time in ("70s", "90s", "3m", "5m"):
        told = run(job(tmp_path, tiny_folder, time), base, machine)
        clear(tmp_path)
        taken.append(told["plan"]["max_steps"] * told["plan"]["tokens"])
    assert taken == sorted(taken) and taken[0] < taken[-1]


def test_a_machine_that_gets_slower_keeps_the_promise_and_the_adapter_is_proved(
    base: LoadedBase, tiny_folder: Path, tmp_path: Path, machine: Machine
) -> None:
    machine.slower_after = 60
    told = run(job(tmp_path, tiny_folder, "4m"), base, machine)
    assert told["steps"][-1] < told["plan"]["max_steps"]
    assert told["seconds"] < 240
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert (record["stopped"], record["steps"]) == ("time", told["steps"][-1])
    said = f"It ended after step {told['steps'][-1]}, for the time: slower than was measured at the start."
    assert told["result"]["proof"]["remarks"][-1] == said


def test_where_not_even_the_least_fits_the_least_time_is_named_and_fits(
    base: LoadedBase, tiny_folder: Path, tmp_path: Path, machine: Machine
) -> None:
    sentence = (
        r"^Not even \d+ steps over \d+ windows fit into 5s: with their proof they take \d+s at 10[01] tokens/s\.$"
    )
    with pytest.raises(TimeTooShort, match=sentence) as refused:
        run(job(tmp_path, tiny_folder, "5s"), base, machine)
    least = refused.value.message.split("they take ")[1].split(" ")[0]
    assert run(job(tmp_path, tiny_folder, least), base, machine)["result"] is not None


def test_a_resumed_training_keeps_what_was_chosen_however_fast_the_machine_is_by_now(
    base: LoadedBase, tiny_folder: Path, tmp_path: Path, machine: Machine
) -> None:
    begun = run(job(tmp_path, tiny_folder, "80s"), base, machine, stop_after=2)
    machine.speed = 10 * SPEED
    resumed = run(job(tmp_path, tiny_folder, "80s", start="resume"), base, machine)
    assert {**resumed["plan"], "memory": None} == {**begun["plan"], "memory": None}
    assert begun["steps"] + resumed["steps"] == list(range(1, begun["plan"]["max_steps"] + 1))


def test_a_preview_chooses_by_the_speed_of_trainings_before(
    base: LoadedBase, tiny_folder: Path, tmp_path: Path, machine: Machine
) -> None:
    spec = job(tmp_path, tiny_folder, "80s")
    asked = preview_of(spec)
    whole = preview_sessions(asked, base.tokenizer, device="cpu")
    assert whole["remarks"][-1] == UNKNOWN
    known = preview_sessions(asked, base.tokenizer, device="cpu", tokens_per_second=SPEED)
    plan = run(spec, base, machine)["plan"]
    assert abs(known["max_steps"] - plan["max_steps"]) <= 2 and known["max_steps"] < whole["max_steps"]
    assert known["remarks"][-1].startswith("Within 80s, at 100 tokens/s: ")
    with pytest.raises(TimeTooShort):
        preview_sessions(asked, base.tokenizer, device="cpu", tokens_per_second=1.0)
