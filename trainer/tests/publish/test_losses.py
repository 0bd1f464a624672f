"""The proof says what an adapter does to text that it was not trained on, and how sure that is."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.data.holdout import HeldOut
from imprint_trainer.data.windows import Answer, Window
from imprint_trainer.lora.adapter import Payload
from imprint_trainer.lora.loss import mean_loss, read_whole
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.publish.card import model_card
from imprint_trainer.publish.losses import (
    BOOTSTRAP_SEED,
    TEXTS,
    WORSE,
    Change,
    interval,
    mean_change,
    neutral_loss,
    neutral_loss_of_base,
    neutral_rise_over,
    neutral_window,
    quantile,
    readers,
    token_changes,
    units_of,
)
from imprint_trainer.publish.peft_format import attached
from imprint_trainer.publish.prove import prove
from training import saved, settings, train_tiny


def test_the_reloaded_adapter_is_measured_on_held_out_windows(
    base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    tested = HeldOut(("a", "b"), (("a", windows[1]), ("b", windows[2])))
    _, payload = train_tiny(base, windows[:1], settings(epochs=12, learning_rate=0.05))
    folder = saved(tmp_path / "adapter", payload)
    proof = prove(base, folder, windows[:1], tested)
    found = proof["held_out"]
    assert found["tokens"] == sum(window.supervised_count for window in windows[1:])
    assert found["loss_before"] == pytest.approx(mean_loss(base.model, windows[1:], base.device), abs=1e-4)
    with attached(base, folder) as model:
        assert found["loss_after"] == pytest.approx(mean_loss(model, windows[1:], base.device), abs=1e-4)
    low, high = found["interval"]
    assert low <= found["loss_after"] - found["loss_before"] <= high
    card = card_of(proof, tested)
    assert f"| loss on {found['tokens']} held-out tokens (nats) | {found['loss_before']:.4f} |" in card
    assert "held out, not trained on | of `a`, `b`: measured on 2 windows" in card
    on_itself = prove(base, folder, windows[:1], HeldOut(("a",), (("a", windows[0]),)))
    assert on_itself["held_out"]["interval"][1] < 0
    assert WORSE not in on_itself["remarks"]
    assert prove(base, folder, windows[:1])["held_out"] is None


def test_an_adapter_that_makes_held_out_text_worse_says_so_in_plain_words(
    base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    _, payload = train_tiny(base, windows[:1], settings(epochs=1))
    source = torch.Generator().manual_seed(1)
    noise = {key: torch.randn(tensor.shape, generator=source) for key, tensor in payload.tensors.items()}
    folder = saved(tmp_path / "noise", replace(payload, tensors=noise))
    proof = prove(base, folder, windows[:1], HeldOut(("a",), (("a", windows[1]), ("a", windows[2]))))
    assert proof["held_out"]["interval"][0] > 0
    assert proof["remarks"][0] == WORSE


def test_an_adapter_that_may_help_is_not_called_worse(
    base: LoadedBase, windows: list[Window], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, payload = train_tiny(base, windows[:1], settings(epochs=1))
    monkeypatch.setattr("imprint_trainer.publish.losses.interval", lambda *_: (-0.1, 0.2))
    proof = prove(base, saved(tmp_path / "adapter", payload), windows[:1], HeldOut(("a",), (("a", windows[1]),)))
    assert proof["held_out"]["interval"] == [-0.1, 0.2]
    assert WORSE not in proof["remarks"]


def card_of(proof: dict[str, object], held_out: HeldOut) -> str:
    plan = {"held_out": {"sessions": list(held_out.sessions), "windows": 2, "supervised_tokens": 29}}
    record = {
        "sessions": [{"session_id": "s1", "sha256": "5" * 64}],
        "config": {},
        "plan": plan,
        "base_model": {"sha256": "b"},
        "versions": {},
    }
    return model_card(
        adapter_id="a",
        base_model_name="tiny",
        method="LoRA",
        task_type="code-gen",
        payload_note="",
        record=record,
        proof=proof,
        base_licence=None,
    )


def test_the_interval_is_that_of_a_bootstrap() -> None:
    source = random.Random(3)
    units = [
        Change(tokens, tokens * 2.0, tokens * (2.0 + source.gauss(-0.1, 0.2)))
        for tokens in (source.randrange(20, 400) for _ in range(12))
    ]
    drawn = np.random.default_rng(1).integers(0, len(units), (20_000, len(units)))
    change = np.array([unit.after - unit.before for unit in units])[drawn].sum(axis=1)
    means = change / np.array([unit.tokens for unit in units])[drawn].sum(axis=1)
    expected = tuple(np.percentile(means, [2.5, 97.5]))
    assert interval(units, mean_change, BOOTSTRAP_SEED) == pytest.approx(expected, abs=0.01)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0, 1))
def test_a_quantile_is_numpys(values: list[float], share: float) -> None:
    assert quantile(sorted(values), share) == pytest.approx(np.quantile(values, share), rel=1e-9, abs=1e-6)


def window(*tokens: int) -> Window:
    """A turn for each number of supervised tokens, one unsupervised token before each."""
    ids, mask, lessons = [0], [False], []
    for step, count in enumerate(tokens):
        ids += [0, *[1] * count]
        mask += [False, *[True] * count]
        lessons.append(Answer(step, len(ids) - count))
    return Window(tuple(ids), tuple(mask), tuple(lessons))


@pytest.mark.parametrize(
    ("places", "sizes"),
    [
        ((("a", window(3, 2)), ("a", window(4)), ("b", window(6))), [9, 6]),
        ((("a", window(3, 2)), ("a", window(4))), [5, 4]),
        ((("a", window(3, 2)),), [3, 2]),
        ((("a", window(3)),), [1, 1, 1]),
    ],
)
def test_a_bootstrap_draws_sessions_else_windows_else_turns_else_tokens(
    places: tuple[tuple[str, Window], ...], sizes: list[int]
) -> None:
    losses = [torch.rand(one.supervised_count) for _, one in places]
    units = units_of(HeldOut(("a",), places), losses, [loss + 1 for loss in losses])
    assert [unit.tokens for unit in units] == sizes
    assert sum(unit.after - unit.before for unit in units) == pytest.approx(sum(sizes), abs=1e-4)


def test_losses_without_and_with_an_adapter_are_of_the_same_tokens() -> None:
    one = window(3)
    with pytest.raises(ValueError, match="zip"):
        units_of(HeldOut(("a",), (("a", one),)), [torch.rand(3)], [torch.rand(2)])
    with pytest.raises(ValueError, match="zip"):
        token_changes([torch.rand(2)], [torch.rand(1), torch.rand(2)])


@pytest.fixture
def upper(base: LoadedBase, windows: list[Window]) -> Payload:
    """An adapter of the second block alone."""
    _, payload = train_tiny(base, windows, settings(target_modules=("down_proj",)))
    tensors = {key: tensor for key, tensor in payload.tensors.items() if ".layers.1." in key}
    return Payload(tensors, {**payload.config, "layers_to_transform": [1]})


def test_the_lowest_changed_block_is_read_from_the_keys(upper: Payload) -> None:
    tensor = next(iter(upper.tensors.values()))
    assert upper.first_block == 1
    lower = {**upper.tensors, "base_model.model.model.layers.0.mlp.up_proj.lora_A.weight": tensor}
    assert Payload(lower, upper.config).first_block == 0
    assert Payload({**upper.tensors, "base_model.model.lm_head.lora_A.weight": tensor}, upper.config).first_block == 0


def test_losses_equal_those_of_whole_readings_to_the_bit(
    base: LoadedBase, windows: list[Window], upper: Payload, tmp_path: Path
) -> None:
    folder = saved(tmp_path / "adapter", upper)
    read = readers(base, upper.first_block).session
    before = mean_loss(base.model, windows, base.device)
    assert mean_loss(base.model, windows, base.device, read) == before
    with attached(base, folder) as model:
        after = mean_loss(model, windows, base.device)
        assert mean_loss(model, windows, base.device, read) == after
    assert after != before
    proof = prove(base, folder, windows)
    assert (proof["loss_before"], proof["loss_after"]) == (before, after)


def test_blocks_below_the_adapter_run_once_for_the_same_ids(
    base: LoadedBase, windows: list[Window], upper: Payload, tmp_path: Path
) -> None:
    runs = []
    hook = base.model.model.layers[0].register_forward_hook(lambda *_: runs.append(1))
    folder = saved(tmp_path / "adapter", upper)
    try:
        prove(base, folder, windows)
        first = len(runs)
        prove(base, folder, windows)
    finally:
        hook.remove()
    assert first == len(windows) + 2 + len(TEXTS)  # the neutral text, whole and up to the adapter; the probes
    assert len(runs) == first + len(windows)


@pytest.mark.parametrize("first_block", [0, 1])
def test_the_bare_base_reads_no_text_twice_nor_its_beginning(base: LoadedBase, first_block: int) -> None:
    ids, runs = torch.arange(40, 70).unsqueeze(0), []
    read = readers(base, first_block).bare
    hook = base.model.model.layers[1].register_forward_hook(lambda *_: runs.append(1))
    try:
        with torch.no_grad():
            found = [read(base.model, one) for one in (ids, ids, ids[:, :9], ids[:, 1:])]
            again = [read_whole(base.model, one) for one in (ids, ids, ids[:, :9], ids[:, 1:])]
    finally:
        hook.remove()
    assert len(runs) == 2 + len(again)
    for one, whole in zip(found, again, strict=True):
        torch.testing.assert_close(one, whole)


@pytest.mark.parametrize("first_block", [0, 1])
def test_what_is_read_anew_is_known_to_the_bare_base(base: LoadedBase, first_block: int) -> None:
    ids, runs = torch.arange(40, 70).unsqueeze(0), []
    reads = readers(base, first_block)
    hook = base.model.model.layers[1].register_forward_hook(lambda *_: runs.append(1))
    try:
        with torch.no_grad():
            for one in (ids, ids[:, :9]):  # a window may begin as another does
                torch.testing.assert_close(reads.anew(base.model, one), reads.bare(base.model, one))
            reads.bare(base.model, ids[:, :20])
    finally:
        hook.remove()
    assert len(runs) == 2


@pytest.mark.parametrize("name", TEXTS)
def test_every_token_of_a_neutral_text_but_the_first_is_measured(base: LoadedBase, name: str) -> None:
    window = neutral_window(base.tokenizer, name)
    assert 200 < len(window.input_ids) <= 512
    assert window.supervised == (False,) + (True,) * (len(window.input_ids) - 1)


def test_the_bases_own_loss_is_measured_once(base: LoadedBase) -> None:
    loss = neutral_loss_of_base(base)
    assert loss == pytest.approx(mean_loss(base.model, [neutral_window(base.tokenizer)], base.device))
    base.model.get_input_embeddings().weight.data.zero_()
    assert neutral_loss_of_base(base) == loss


def test_the_loss_of_each_neutral_text_is_its_own(base: LoadedBase) -> None:
    losses = {name: neutral_loss_of_base(base, name) for name in TEXTS}
    assert losses == {name: neutral_loss(base.model, base.tokenizer, base.device, name=name) for name in TEXTS}
    assert len(set(losses.values())) == len(TEXTS)


def test_the_rise_on_neutral_text_is_a_share_of_the_bases_loss(
    base: LoadedBase, upper: Payload, tmp_path: Path
) -> None:
    rise = neutral_rise_over(base)
    assert rise(base.model) == 0
    with attached(base, saved(tmp_path / "adapter", upper)) as model:
        after = neutral_loss(model, base.tokenizer, base.device)
        assert rise(model) == pytest.approx((after - neutral_loss_of_base(base)) / neutral_loss_of_base(base))
