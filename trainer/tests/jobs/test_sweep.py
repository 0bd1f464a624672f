"""Sweeps of the tiny model, from their specification to the files of the chosen trial."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from imprint_trainer.errors import AdapterNotFinite, CheckpointMismatch, NothingHeldOut
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.lora import train_lora
from imprint_trainer.jobs.sweep import train_sweep, trial_spec
from imprint_trainer.protocol import TrainLoraSpec, TrainSweepSpec
from jobs.sweep_sessions import write_sessions
from schema import SCHEMAS, faults

from .conftest import Events, Run, Spec, trial


def files(spec: dict[str, Any]) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(spec["output_dir"]).iterdir()}


def states(sweep: dict[str, Any]) -> list[str]:
    return [one["state"] for one in sweep["trials"]]


def test_the_worse_half_is_stopped_twice_and_the_best_of_the_rest_is_proved(sweep_spec: Spec, run: Run) -> None:
    events: Events = []
    spec = sweep_spec()
    result = run(spec, events=events)
    sweep = result["sweep"]
    assert sweep["halvings"] == [0.25, 0.5]
    assert sorted(states(sweep)) == ["finished", "stopped", "stopped", "stopped"]
    assert [one["steps"] / one["max_steps"] for one in sweep["trials"] if one["state"] == "stopped"].count(0.25) == 2
    best = sweep["trials"][sweep["best"] - 1]
    assert best["state"] == "finished"
    assert all(best["loss_after"] <= one["loss_after"] for one in sweep["trials"])
    assert result["rank"] == best["rank"]
    assert [point["step"] for point in best["curve"]] == [0, 8, 16, 32]
    done = {"type": "done", "job_id": "0" * 26, "result": result}
    assert not [wrong for event in [*events, done] for wrong in of_schema(event)]


def of_schema(event: dict[str, Any]) -> list[str]:
    return faults({"job_id": "0" * 26} | event, SCHEMAS["WorkerEvent"], event["type"])


def test_the_proof_is_measured_on_text_that_chose_nothing(sweep_spec: Spec, run: Run) -> None:
    spec = sweep_spec()
    result = run(spec)
    sweep, held_out = result["sweep"], result["proof"]["held_out"]
    assert held_out["tokens"] == sweep["unseen"]["supervised_tokens"]
    assert held_out["loss_after"] != sweep["trials"][sweep["best"] - 1]["loss_after"]
    card = (Path(spec["output_dir"]) / "README.md").read_text()
    assert "## Chosen of a sweep" in card
    assert "in part luck on the text that chose it" in card
    assert "that no choice saw" in card
    assert json.loads((Path(spec["output_dir"]) / "training.json").read_text())["sweep"] == sweep


def test_a_card_says_that_a_figure_is_optimistic_where_too_little_was_held_out(sweep_spec: Spec, run: Run) -> None:
    spec = sweep_spec(holdout=["s4"], trials=[trial(2, 1e-2, 1), trial(4, 1e-2, 1)], max_length=512)
    assert run(spec)["sweep"]["unseen"] is None
    assert "and is optimistic" in (Path(spec["output_dir"]) / "README.md").read_text()


def test_a_trial_learns_what_a_job_alone_learns(
    sweep_spec: Spec, run: Run, context_of: Callable[..., JobContext], tmp_path: Path
) -> None:
    spec = sweep_spec(holdout=["s4"], max_length=512)  # one part, so that the same text decides both
    result = run(spec)
    best = result["sweep"]["best"]
    alone = trial_spec(TrainSweepSpec.model_validate(spec), best).model_dump()
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone-kept").mkdir()
    alone |= {
        "output_dir": str(tmp_path / "alone"),
        "checkpoint": {"dir": str(tmp_path / "alone-kept"), "seconds": 3600.0, "start": "fresh"},
    }
    train_lora(TrainLoraSpec.model_validate(alone), context_of([]))
    weights = "adapter_model.safetensors"
    assert (tmp_path / "alone" / weights).read_bytes() == files(spec)[weights]


def test_its_progress_is_that_of_the_whole(sweep_spec: Spec, run: Run) -> None:
    events: Events = []
    run(sweep_spec(), events=events)
    assert steps_of(events) == list(range(1, 4 * 8 + 2 * 8 + 16 + 1))
    assert {event["progress"]["steps"] for event in events if event["type"] == "progress"} == {64}
    assert next(event["plan"]["max_steps"] for event in events if event["type"] == "plan") == 64


def test_a_cancelled_sweep_goes_on_where_it_was_to_the_same_files(sweep_spec: Spec, run: Run) -> None:
    plain = sweep_spec("plain")
    whole = run(plain)
    for step in (11, 32, 55):  # within a rung, at the end of the first halving, in the last rung
        cut = sweep_spec(f"cut-{step}")
        assert run(cut, stop=lambda told, step=step: steps_of(told)[-1:] >= [step]) == {}
        events: Events = []
        assert run(cut | {"checkpoint": cut["checkpoint"] | {"start": "resume"}}, events=events) == whole
        assert steps_of(events)[0] == step + 1
        assert files(cut) == files(plain)
        kept = [event["step"] for event in events if event["type"] == "checkpoint"]
        assert kept == sorted(set(kept))


def steps_of(events: Events) -> list[int]:
    return [event["progress"]["step"] for event in events if event["type"] == "progress"]


def test_a_sweep_that_died_between_two_checkpoints_ends_with_the_same_files(sweep_spec: Spec, run: Run) -> None:
    class DiedError(Exception):
        pass

    def dies(told: Events) -> bool:
        if len(steps_of(told)) == 37:
            raise DiedError
        return False

    plain, cut = sweep_spec("plain"), sweep_spec("cut")
    run(plain)
    with pytest.raises(DiedError):
        run(cut, stop=dies)
    run(cut | {"checkpoint": cut["checkpoint"] | {"start": "resume"}})
    assert files(cut) == files(plain)


def test_a_sweep_does_not_go_on_over_other_sessions(sweep_spec: Spec, run: Run, tmp_path: Path) -> None:
    spec = sweep_spec()
    run(spec, stop=lambda told: any(event["type"] == "progress" for event in told))
    write_sessions(tmp_path, answers=7)
    with pytest.raises(CheckpointMismatch, match="session"):
        run(spec | {"checkpoint": spec["checkpoint"] | {"start": "resume"}})


def test_a_trial_whose_loss_is_not_finite_is_given_up_and_the_others_go_on(
    sweep_spec: Spec, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil_rank(monkeypatch, 4)
    result = run(sweep_spec())
    assert states(result["sweep"]) == ["stopped", "finished", "failed", "failed"]


def test_a_sweep_whose_trials_all_fail_fails(sweep_spec: Spec, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil_rank(monkeypatch, 2)
    with pytest.raises(AdapterNotFinite, match="every trial"):
        run(sweep_spec(trials=[trial(2, 1e-3), trial(2, 1e-2)]))


def spoil_rank(monkeypatch: pytest.MonkeyPatch, rank: int) -> None:
    """Gradients of adapters of this rank are NaN from now on."""
    clip = torch.nn.utils.clip_grad_norm_

    def spoiled(parameters: list[torch.Tensor], most: float) -> torch.Tensor:
        norm = clip(parameters, most)
        return norm * torch.nan if any(rank in one.shape for one in parameters) else norm

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", spoiled)


def test_sessions_too_short_to_hold_a_part_out_are_refused_before_a_model_is_loaded(
    sweep_spec: Spec, context_of: Callable[..., JobContext]
) -> None:
    spec = sweep_spec(holdout="auto")
    short = spec | {"session_paths": spec["session_paths"][:1], "session_ids": ["s1"]}
    events: Events = []
    with pytest.raises(NothingHeldOut, match="so short sessions"):
        train_sweep(TrainSweepSpec.model_validate(short), context_of(events))
    assert [event["phase"] for event in events] == ["preparing_data"]
