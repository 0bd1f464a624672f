"""The objective `rest`: splits of sessions, losses that hold, kept readings, and trainings that go on to the bit."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.training import metrics
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.command import save
from imprint_trainer.doc_to_lora.training.loop import TrainedHypernetwork, train_hypernetwork
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.doc_to_lora.training.rest.config import RestConfig
from imprint_trainer.doc_to_lora.training.rest.kept import KeptReadings
from imprint_trainer.doc_to_lora.training.rest.loop import train_on_rests
from imprint_trainer.doc_to_lora.training.rest.losses import rise, tail_divergence, top_token_hinge
from imprint_trainer.doc_to_lora.training.rest.note_wordings import make_note
from imprint_trainer.doc_to_lora.training.rest.noted import Notes, asked_of
from imprint_trainer.doc_to_lora.training.rest.passages import read_groups
from imprint_trainer.doc_to_lora.training.rest.reading import SplitBase
from imprint_trainer.doc_to_lora.training.sources import open_source
from imprint_trainer.lora.factors import Factors

from ..tiny import tiny_config
from .small import small_config

REST = {
    "cuts": [0.5],
    "chunks": [1, 2],
    "window_length": 256,
    "windows": 2,
    "positions": 40,
    "held_positions": 16,
    "top_k": 8,
    "axes_texts": 3,
    "measure_steps": 2,
    "measured_sessions": 2,
}


def recorded(name: str) -> dict[str, Any]:
    step: dict[str, Any] = {"tool_calls": [], "observations": []}
    steps = [{"source": "user", "text": f"task {name}", **step}]
    steps += [{"source": "agent", "text": f"turn {turn} of {name} does a thing", **step} for turn in range(6)]
    return {
        "schema_version": 1,
        "session_id": name,
        "source": {"format": "x", "format_version": None, "agent": None, "model": None, "sha256": "0" * 64},
        "task_type": None,
        "outcome": "unknown",
        "outcome_signal": None,
        "started_at": None,
        "tools": [],
        "steps": steps,
        "bad_lines": 0,
        "dropped": [],
        "redactions": [],
    }


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("groups")
    for group in ("one", "two", "three"):
        (folder / group).mkdir()
        (folder / group / "01.json").write_text(json.dumps(recorded(group)))
    return folder


@pytest.fixture(scope="module")
def init(tiny_base: Base, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("init")
    trained = train_hypernetwork(
        tiny_base,
        small_config(steps=1),
        open_source("synthetic", questions=20),
        folder / "run",
        clock=iter(range(100)).__next__,
    )
    save(trained, folder / "made")
    return folder / "made"


def train(base: Base, groups: Path, init: Path, out: Path, **hooks: Any) -> TrainedHypernetwork:
    changes = hooks.pop("config", {})
    config = small_config(objective="rest", rest={**REST, **changes}, checkpoint_steps=2, decay=0.0)
    return train_on_rests(base, config, groups, out, clock=iter(range(1000)).__next__, init=init, dev=groups, **hooks)[
        0
    ]


def test_the_rest_begins_after_what_the_document_holds(tiny_base: Base, groups: Path) -> None:
    corpus = read_groups(groups, tiny_base.tokenizer, RestConfig.model_validate(REST))
    for passage in corpus.passages:
        document = "".join(tiny_base.tokenizer.decode(chunk) for chunk in passage.chunks(tiny_base, 1, 800))
        rest = "".join(targets(tiny_base, window) for window in passage.windows)
        whole = "".join(tiny_base.tokenizer.decode(window.input_ids) for window in passage.windows)
        assert f"turn 0 of {passage.group}" in document
        assert f"turn 5 of {passage.group}" in rest
        assert "turn 0" not in whole and "turn 5" not in document
        assert f"task {passage.group}" in whole


@pytest.mark.parametrize("count", [1, 2])
def test_documents_have_no_more_chunks_than_asked_for(tiny_base: Base, groups: Path, count: int) -> None:
    corpus = read_groups(groups, tiny_base.tokenizer, RestConfig.model_validate(REST))
    assert all(1 <= len(passage.chunks(tiny_base, count, 64)) <= count for passage in corpus.passages)


def test_a_folder_of_one_group_is_refused(tiny_base: Base, groups: Path) -> None:
    with pytest.raises(TrainingRefused, match="--data: one holds 0 groups"):
        read_groups(groups / "one", tiny_base.tokenizer, RestConfig())


def test_the_divergence_is_that_of_all_tokens_where_all_are_listed() -> None:
    torch.manual_seed(0)
    base, own = torch.randn(5, 9).log_softmax(-1), torch.randn(5, 9).log_softmax(-1)
    top = base.topk(8)
    expected = torch.nn.functional.kl_div(own, base, log_target=True, reduction="batchmean")
    torch.testing.assert_close(tail_divergence(own, top.indices, top.values), expected, rtol=1e-4, atol=1e-5)
    assert float(tail_divergence(base, top.indices, top.values)) == pytest.approx(0, abs=1e-5)


def test_the_tail_notices_what_tokens_off_the_list_take() -> None:
    base = torch.tensor([[0.6, 0.3, 0.05, 0.05]]).log()
    own = torch.tensor([[0.4, 0.2, 0.2, 0.2]]).log()  # the list's shares among themselves are as they were
    top = base.topk(2)
    assert float(tail_divergence(own, top.indices, top.values)) > 0.1


def test_the_hinge_is_zero_where_the_base_and_adapted_model_agree_on_the_likeliest_token() -> None:
    log_probs = torch.tensor([[0.2, 0.7, 0.1], [0.5, 0.2, 0.3]]).log()
    assert float(top_token_hinge(log_probs, torch.tensor([[1], [0]]))) == 0
    assert float(top_token_hinge(log_probs, torch.tensor([[0], [0]]))) == pytest.approx(
        0.5 * float(torch.tensor(3.5).log())
    )


def test_tokens_that_got_better_do_not_pay_for_others() -> None:
    assert float(rise(torch.tensor([0.0, 3.0]), torch.tensor([2.0, 2.0]))) == 0.5


def test_upper_blocks_on_kept_states_equal_the_whole_model(tiny_base: Base, groups: Path, tmp_path: Path) -> None:
    model = tiny_base.model
    depth = len(model.model.layers)
    config = tiny_config(
        model, layer_indices=(depth - 1,), encoder="early_exit", exit_layer=1, n_latent_queries=2, decoder_layers=()
    )
    window = read_groups(groups, tiny_base.tokenizer, RestConfig.model_validate(REST)).passages[0].windows[0]
    split = SplitBase(model, config, KeptReadings(tmp_path, 10**9), 8)
    generator = torch.Generator().manual_seed(0)
    factors = {
        "down_proj": Factors(
            torch.randn(1, 2, config.d_in["down_proj"], generator=generator) * 0.1,
            torch.randn(1, 2, config.d_out["down_proj"], generator=generator) * 0.1,
        )
    }
    with torch.no_grad(), applied(model, factors, config):
        read = split.window(window)
        found = split.upper(read.states)
        whole = model.model(input_ids=torch.tensor([window.input_ids[: len(found)]]), use_cache=False)
    torch.testing.assert_close(found, whole.last_hidden_state[0], rtol=0.05, atol=0.05)  # states are kept in bf16


def test_readings_that_find_no_room_are_the_same(tmp_path: Path) -> None:
    calls: list[int] = []

    def read() -> dict[str, torch.Tensor]:
        calls.append(1)
        return {"x": torch.arange(4)}

    for room, expected in ((0, 2), (1000, 1)):
        calls.clear()
        kept = KeptReadings(tmp_path / str(room), room)
        assert torch.equal(kept.get("a", read)["x"], kept.get("a", read)["x"])
        assert len(calls) == expected


def test_steps_lower_the_loss_on_the_rest(tiny_base: Base, groups: Path, init: Path, tmp_path: Path) -> None:
    config = small_config(
        objective="rest",
        steps=25,
        decay=0.0,
        muon_learning_rate=0.1,
        adamw_learning_rate=0.02,
        rest={**REST, "retention_weight": 0.0, "positions": 500, "measure_steps": 100},
    )
    train_on_rests(tiny_base, config, groups, tmp_path, clock=iter(range(1000)).__next__, init=init)
    gains = [line["rest_loss"] - line["rest_loss_of_base"] for line in metrics.read(tmp_path)]
    assert sum(gains[-5:]) / 5 < sum(gains[:5]) / 5 - 0.05


@pytest.mark.parametrize("changes", [{}, {"distillation_weight": 0.5, "foreign_hold": "base"}])
def test_a_resumed_training_equals_an_uninterrupted_one_to_the_bit(
    tiny_base: Base, groups: Path, init: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    whole = train(tiny_base, groups, init, tmp_path / "whole", config=changes)
    polls = iter([False] * 3 + [True])
    stopped = train(tiny_base, groups, init, tmp_path / "torn", config=changes, out_of_time=lambda: next(polls))
    assert stopped.steps == 3
    resumed = train(tiny_base, groups, init, tmp_path / "torn", config=changes)
    state = resumed.hypernetwork.state_dict()
    assert all(torch.equal(state[name], value) for name, value in whole.hypernetwork.state_dict().items())
    lines = metrics.read(tmp_path / "torn")
    assert lines == metrics.read(tmp_path / "whole")
    assert {"own_16", "unrelated_16", "neutral_16"} <= lines[3].keys()
    assert resumed.hypernetwork.config.chunk_scaling == "root"


def test_the_base_model_stays_as_it_was(tiny_base: Base, groups: Path, init: Path, tmp_path: Path) -> None:
    before = {name: value.clone() for name, value in tiny_base.model.state_dict().items()}
    train(tiny_base, groups, init, tmp_path)
    assert all(torch.equal(before[name], value) for name, value in tiny_base.model.state_dict().items())


def test_other_settings_in_its_folder_are_refused(tiny_base: Base, groups: Path, init: Path, tmp_path: Path) -> None:
    train(tiny_base, groups, init, tmp_path, out_of_time=lambda: True)
    with pytest.raises(TrainingRefused, match="another config"):
        train(tiny_base, groups, init, tmp_path, config={"positions": 39})


def test_a_note_is_in_no_question_and_its_statement_holds_its_value(tiny_base: Base) -> None:
    rng = random.Random(0)
    notes = [make_note(rng, tiny_base.vocabulary) for _ in range(500)]
    assert all(note.value in note.statement for note in notes)
    assert not any(note.value.lower() in (note.question + note.other).lower() for note in notes)
    assert all(note.question != note.other for note in notes)
    assert len({note.statement for note in notes}) == 500


@pytest.mark.parametrize("count", [1, 2])
def test_a_noted_document_holds_its_statements_among_the_sessions_lines(
    tiny_base: Base, groups: Path, count: int
) -> None:
    passage = read_groups(groups, tiny_base.tokenizer, RestConfig.model_validate(REST)).passages[0]
    for index, asked in enumerate(asked_of(Notes(tiny_base), [passage], 20)):
        chunks = asked.document.chunks(tiny_base, count, 800)
        text = "".join(tiny_base.tokenizer.decode(chunk) for chunk in chunks)
        assert len(chunks) <= count, index
        assert all(statement in text for statement in asked.document.statements)
        answer, quiet = (targets(tiny_base, window) for window in (asked.answer, asked.quiet))
        assert answer == quiet and answer.strip()


def test_notes_are_learned(tiny_base: Base, groups: Path, init: Path, tmp_path: Path) -> None:
    config = small_config(
        objective="rest",
        steps=25,
        decay=0.0,
        muon_learning_rate=0.1,
        adamw_learning_rate=0.02,
        rest={**REST, "notes_share": 1.0, "retention_weight": 0.0, "measure_steps": 100},
    )
    train_on_rests(tiny_base, config, groups, tmp_path, clock=iter(range(1000)).__next__, init=init)
    gains = [line["rest_loss"] - line["rest_loss_of_base"] for line in metrics.read(tmp_path)]
    assert sum(gains[-5:]) / 5 < sum(gains[:5]) / 5 - 0.05


def targets(base: Base, window: Window) -> str:
    return base.tokenizer.decode([i for i, s in zip(window.input_ids, window.supervised, strict=True) if s])
