"""The time that a training and its proof take, known before the first step ends."""

from typing import Any

import pytest
import torch

from conftest import snapshot
from imprint_trainer.data.windows import Window
from imprint_trainer.jobs.reading import Reading
from imprint_trainer.lora.adapter import fresh_adapter, resolve_targets
from imprint_trainer.lora.train import measured_speed
from imprint_trainer.models.causal_lm import LoadedBase


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_is_told_at_the_start_and_window_by_window_through_the_proof() -> None:
    told: list[dict[str, Any]] = []
    clock = Clock()
    reading = Reading(told.append, training=10, proof=6, seconds=30.0, clock=clock)
    for _ in range(4):  # twice as fast as was measured
        clock.now += 15
        reading.trained()
    reading.prove()  # it ended early
    for _ in range(6):
        reading.proves()
        clock.now += 10
    events = [event["measuring"] for event in told]
    assert [(one["done"], one["eta_seconds"]) for one in events[:2]] == [(0, 360), (1, 165)]
    assert [one["done"] for one in events] == sorted(one["done"] for one in events)
    proving = [one for one in events if one["what"] == "windows read, proving"]
    assert [(one["done"], one["eta_seconds"]) for one in proving] == [
        (10, 30), (11, 50), (12, 40), (13, 30), (14, 20), (15, 10)
    ]  # fmt: skip
    assert {one["total"] for one in events} == {16}


def test_events_come_once_a_second_at_most() -> None:
    told: list[dict[str, Any]] = []
    clock = Clock()
    reading = Reading(told.append, training=100, proof=0, seconds=0.1, clock=clock)
    for _ in range(40):
        clock.now += 0.125
        reading.trained()
    assert len(told) == 1 + 5


def test_measuring_the_speed_changes_neither_adapter_nor_random_state(base: LoadedBase, windows: list[Window]) -> None:
    with fresh_adapter(base, rank=4, alpha=8.0, targets=resolve_targets(base.model, None), seed=1) as model:
        before, state = snapshot(model), torch.get_rng_state()  # type: ignore[arg-type]
        assert measured_speed(model, windows[1], base.device) > 0
        assert torch.equal(torch.get_rng_state(), state)
        assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())  # type: ignore[attr-defined]
        assert all(parameter.grad is None for parameter in model.parameters())


def test_the_speed_is_known_within_seconds_however_slow_the_machine_is(
    base: LoadedBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of 64 tokens takes 0.9 seconds, of 128 twice as long: no third one is begun."""
    clock, read = Clock(), []

    def slow(_: object, windows: list[Window], *__: object, **___: object) -> float:
        read.append(len(windows[0].input_ids))
        clock.now += 0.9 * read[-1] / 64
        return 1.0

    monkeypatch.setattr("imprint_trainer.lora.train.forward_backward", slow)
    window = Window(tuple(range(10, 310)), (True,) * 300)
    assert measured_speed(base.model, window, base.device, clock=clock) == pytest.approx(64 / 0.9)
    assert read == [64, 128]
