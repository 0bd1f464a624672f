import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.training import metrics
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.command import save
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig
from imprint_trainer.doc_to_lora.training.loop import TrainedHypernetwork, train_hypernetwork
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.doc_to_lora.training.sources import open_source
from imprint_trainer.doc_to_lora.training.state import STATE
from imprint_trainer.errors import AdapterNotFinite

from .small import SHAPE, small_config


class PowerCutError(Exception):
    pass


def train(base: Base, config: HypernetworkTrainingConfig, out: Path, **hooks: Any) -> TrainedHypernetwork:
    ticks = itertools.count()
    return train_hypernetwork(
        base, config, open_source("synthetic", questions=20), out, clock=lambda: float(next(ticks)), **hooks
    )


def weights(trained: TrainedHypernetwork) -> dict[str, torch.Tensor]:
    return dict(trained.hypernetwork.state_dict())


def test_thirty_steps_lower_the_loss_on_answers(tiny_base: Base, tmp_path: Path) -> None:
    losses: list[float] = []
    config = small_config(steps=30, decay=0.0, documents=6, muon_learning_rate=0.2, adamw_learning_rate=0.02)
    train(tiny_base, config, tmp_path, on_step=lambda report: losses.append(report["answer_loss"]))
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])


def test_the_base_model_stays_as_it_was(tiny_base: Base, tmp_path: Path) -> None:
    before = {name: value.clone() for name, value in tiny_base.model.state_dict().items()}
    train(tiny_base, small_config(steps=2), tmp_path)
    assert all(torch.equal(before[name], value) for name, value in tiny_base.model.state_dict().items())


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_resumed_training_equals_an_uninterrupted_one_to_the_bit(tiny_base: Base, tmp_path: Path, stop: int) -> None:
    config = small_config(checkpoint_steps=2, distillation_weight=0.5, l1=0.01)
    whole = train(tiny_base, config, tmp_path / "whole")

    def interrupt(report: dict[str, float]) -> None:
        if report["step"] == stop:
            raise PowerCutError

    with pytest.raises(PowerCutError):
        train(tiny_base, config, tmp_path / "torn", on_step=interrupt)
    resumed = train(tiny_base, config, tmp_path / "torn")
    assert all(torch.equal(weights(resumed)[name], value) for name, value in weights(whole).items())
    assert metrics.read(tmp_path / "torn") == metrics.read(tmp_path / "whole")
    assert [line["step"] for line in metrics.read(tmp_path / "torn")] == [1, 2, 3, 4, 5, 6]


def test_a_training_out_of_time_stops_with_a_checkpoint_and_goes_on(tiny_base: Base, tmp_path: Path) -> None:
    polls = iter([False, False, True])
    stopped = train(tiny_base, small_config(), tmp_path / "a", out_of_time=lambda: next(polls))
    assert stopped.steps == 2
    whole = train(tiny_base, small_config(), tmp_path / "b")
    resumed = train(tiny_base, small_config(), tmp_path / "a")
    assert resumed.steps == 6
    assert all(torch.equal(weights(resumed)[name], value) for name, value in weights(whole).items())


@pytest.mark.parametrize("basis_size", [28, 20])  # of 28 inputs; the head reads 16 latents
def test_a_training_goes_on_from_the_hypernetwork_that_another_one_made(
    tiny_base: Base, tmp_path: Path, basis_size: int
) -> None:
    config = small_config(shape={**SHAPE, "basis_size": basis_size})
    first = train(tiny_base, config, tmp_path / "first")
    save(first, tmp_path / "made")
    made = store.load(tmp_path / "made").state_dict()
    frozen = config.model_copy(
        update={"muon_learning_rate": 1e-12, "adamw_learning_rate": 1e-12, "steps": 1, "seed": 5}
    )
    same = weights(train(tiny_base, frozen, tmp_path / "second", init=tmp_path / "made"))
    assert same.keys() == made.keys()
    for name, value in made.items():
        torch.testing.assert_close(same[name], value, rtol=1e-4, atol=1e-4 * float(value.abs().max()))

    moved = train(tiny_base, small_config(steps=2), tmp_path / "third", init=tmp_path / "made")
    assert not torch.allclose(weights(moved)["head.weight"], made["head.weight"])
    with pytest.raises(TrainingRefused, match="another init"):
        train(tiny_base, small_config(steps=2), tmp_path / "third")


def test_a_hypernetwork_of_another_shape_is_no_start(tiny_base: Base, tmp_path: Path) -> None:
    save(train(tiny_base, small_config(steps=1), tmp_path / "first"), tmp_path / "made")
    other = small_config(steps=1, shape={**SHAPE, "rank": 1})
    with pytest.raises(TrainingRefused, match="--init: the hypernetwork has another base or shape"):
        train(tiny_base, other, tmp_path / "second", init=tmp_path / "made")


def test_a_training_goes_on_with_more_ranks(tiny_base: Base, tmp_path: Path) -> None:
    save(train(tiny_base, small_config(steps=1), tmp_path / "first"), tmp_path / "made")
    wide = small_config(steps=2, shape={**SHAPE, "rank": 5})
    assert train(tiny_base, wide, tmp_path / "second", init=tmp_path / "made").hypernetwork.config.rank == 5


def test_retention_rows_are_made_once(tiny_base: Base, tmp_path: Path) -> None:
    progress: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        progress.append((done, total))

    train(tiny_base, small_config(steps=1), tmp_path, on_retention=note)
    total = small_config().retention.rows
    assert progress[0] == (0, total)
    assert progress[-1] == (total, total)
    assert progress == sorted(set(progress))
    once = len(progress)
    train(tiny_base, small_config(steps=1), tmp_path, on_retention=note)
    assert len(progress) == once


def test_without_retention_nothing_is_held(tiny_base: Base, tmp_path: Path) -> None:
    train(tiny_base, small_config(steps=2, retention={"share": 0}), tmp_path)
    assert all(line["retention_loss"] == 0 for line in metrics.read(tmp_path))


@pytest.mark.parametrize(
    ("changes", "named"), [({"seed": 7}, "another config"), ({"muon_learning_rate": 0.1}, "another config")]
)
def test_a_folder_of_other_settings_is_refused(
    tiny_base: Base, tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    train(tiny_base, small_config(steps=1), tmp_path)
    with pytest.raises(TrainingRefused, match=named):
        train(tiny_base, small_config(steps=1, **changes), tmp_path)


def stored(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes what the checkpoint says of its training's settings."""
    state = json.loads((folder / STATE).read_text(encoding="utf-8"))
    change(state["identity"]["config"])
    (folder / STATE).write_text(json.dumps(state), encoding="utf-8")


def test_a_folder_from_before_a_setting_was_there_goes_on(tiny_base: Base, tmp_path: Path) -> None:
    whole = train(tiny_base, small_config(steps=2), tmp_path / "whole")
    polls = iter([False, True])
    train(tiny_base, small_config(steps=2), tmp_path / "a", out_of_time=lambda: next(polls))
    stored(tmp_path / "a", lambda config: (config.pop("l1"), config["retention"].pop("positions")))
    resumed = train(tiny_base, small_config(steps=2), tmp_path / "a")
    assert all(torch.equal(weights(resumed)[name], value) for name, value in weights(whole).items())


def test_a_folder_of_settings_that_are_not_known_is_refused_by_name(tiny_base: Base, tmp_path: Path) -> None:
    train(tiny_base, small_config(steps=1), tmp_path)
    stored(tmp_path, lambda config: config["shape"].update(sparkle=3))
    with pytest.raises(TrainingRefused, match=r"config\.shape\.sparkle: .* choose another folder"):
        train(tiny_base, small_config(steps=1), tmp_path)


def test_sizes_that_were_named_and_those_that_follow_from_the_base_are_the_same(
    tiny_base: Base, tmp_path: Path
) -> None:
    sizes = {"latent_size": 32, "projection_size": 32, "heads": 4, "hidden_size": 32, "basis_size": 32}
    shape = {"rank": 2, "head_dim": 8}
    train(tiny_base, small_config(steps=1, shape=shape | sizes), tmp_path)
    assert train(tiny_base, small_config(steps=1, shape=shape), tmp_path).steps == 1


def test_a_folder_of_another_base_is_refused(tiny_base: Base, tmp_path: Path) -> None:
    train(tiny_base, small_config(steps=1), tmp_path)
    other = Base(tiny_base.model, tiny_base.tokenizer, "another/base")
    with pytest.raises(TrainingRefused, match="another base"):
        train(other, small_config(steps=1), tmp_path)


def test_a_damaged_checkpoint_is_refused(tiny_base: Base, tmp_path: Path) -> None:
    train(tiny_base, small_config(steps=1), tmp_path)
    named = json.loads((tmp_path / STATE).read_text(encoding="utf-8"))["weights"]
    (tmp_path / named).write_bytes((tmp_path / named).read_bytes()[:100])
    with pytest.raises(TrainingRefused, match="damaged"):
        train(tiny_base, small_config(steps=1), tmp_path)
    (tmp_path / STATE).write_text("{", encoding="utf-8")
    with pytest.raises(TrainingRefused, match="damaged"):
        train(tiny_base, small_config(steps=1), tmp_path)


def test_a_loss_that_is_not_finite_ends_the_training(tiny_base: Base, tmp_path: Path) -> None:
    with pytest.raises(AdapterNotFinite, match="The loss of step"):
        train(tiny_base, small_config(steps=5, muon_learning_rate=1e30, adamw_learning_rate=1e30), tmp_path)
