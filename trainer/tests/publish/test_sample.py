from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from imprint_trainer.adapters import sample as sample_module

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import Cancelled
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.publish.prove import MOST_TOKENS, prove, sample
from training import saved, settings, train_tiny


@given(st.lists(st.integers(1, 9000), min_size=1, max_size=60))
def test_a_sample_is_all_of_a_short_training_and_a_bounded_part_of_a_long_one(lengths: list[int]) -> None:
    windows = [Window((0,) * length, (True,) * length) for length in lengths]
    chosen = sample(windows)
    assert chosen == sample(windows) == sorted(set(chosen))
    tokens = sum(lengths[index] for index in chosen)
    assert tokens <= MOST_TOKENS
    assert len(chosen) == len(windows) or tokens + max(lengths) > MOST_TOKENS


def trained(base: LoadedBase, windows: list[Window], folder: Path) -> Path:
    _, payload = train_tiny(base, windows, settings())
    return saved(folder, payload)


def test_a_proof_on_a_sample_says_which_windows_it_read(
    base: LoadedBase, windows: list[Window], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = trained(base, windows, tmp_path / "adapter")
    monkeypatch.setattr(sample_module, "MOST_TOKENS", 1)
    (index,) = sample(windows)
    proof = prove(base, folder, windows)
    assert proof["remarks"][0] == f"Losses were measured on 1 of {len(windows)} windows, drawn at random: {index + 1}."
    assert proof["supervised_tokens"] == windows[index].supervised_count
    assert proof["loss_before"] == mean_loss(base.model, [windows[index]], base.device)


def test_a_proof_hears_a_cancel_before_each_window(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    folder = trained(base, windows, tmp_path / "adapter")
    asked: Iterator[int] = iter(range(len(windows) + 1))

    def stop() -> None:
        if next(asked) == len(windows):  # with the adapter, the first one
            raise Cancelled

    with pytest.raises(Cancelled):
        prove(base, folder, windows, stop=stop)
    assert mean_loss(base.model, windows, base.device) == prove(base, folder, windows)["loss_before"]
