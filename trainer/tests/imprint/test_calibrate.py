from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from imprint_trainer.data.windows import Window
from imprint_trainer.imprint import calibrate as module
from imprint_trainer.imprint.calibrate import NEUTRAL_TOKENS, SCALES, Calibrated, calibrate, thinned
from imprint_trainer.imprint.config import AdapterPlace, decoder
from imprint_trainer.imprint.update import Imprinted, Trial, Update, to_peft
from imprint_trainer.lora.adapter import Factors
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.publish.losses import IMPRINT_TEXTS, Readers, neutral_window, readers
from imprint_trainer.publish.peft_format import attached
from training import saved

from .tiny import place_in, random_factors

BEFORE = 2.0


def calibrated(
    monkeypatch: pytest.MonkeyPatch, own: Callable[[float], float], rises: Callable[[float], list[float]]
) -> Calibrated:
    """With an own loss and shares by which the neutral texts rise that are functions of the scale; 2 nats before."""
    now: list[float] = []

    @contextmanager
    def applied(*_: object, scaling: float) -> Iterator[None]:
        now.append(scaling)
        yield
        now.pop()

    def neutral(*_: object, name: str, tokens: int) -> float:
        return BEFORE * (1 + rises(now[-1])[IMPRINT_TEXTS.index(name)])

    monkeypatch.setattr(module, "applied", applied)
    monkeypatch.setattr(module, "neutral_loss", neutral)
    monkeypatch.setattr(module, "neutral_loss_of_base", lambda *_: BEFORE)
    monkeypatch.setattr(module, "mean_loss", lambda *_: own(now[-1]) if now else BEFORE)
    nothing: Any = None
    base: Any = type("Base", (), {"model": None, "tokenizer": None, "device": None})
    return calibrate(base, imprinted(nothing, {}), [], Readers(nothing, nothing, nothing, nothing))


def imprinted(config: AdapterPlace, factors: dict[str, Factors], *trials: Trial) -> Imprinted:
    return Imprinted(Update(factors, 0, 0, 0, 0.0), (), config, "made for a test", trials)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    minimum=st.floats(-0.5, 1.5), depth=st.floats(-0.5, 1.5), slopes=st.lists(st.floats(0, 0.5), min_size=3, max_size=3)
)
def test_it_is_the_scale_that_trying_all_of_them_gives(
    monkeypatch: pytest.MonkeyPatch, minimum: float, depth: float, slopes: list[float]
) -> None:
    def own(scale: float) -> float:
        return BEFORE - depth + (scale - minimum) ** 2

    at_a_bound = any(abs(sum(slopes) / 3 * s - 0.03) < 1e-9 or abs(max(slopes) * s - 0.06) < 1e-9 for s in SCALES)
    assume(not at_a_bound)  # rounding decides there
    found = calibrated(monkeypatch, own, lambda scale: [slope * scale for slope in slopes])
    allowed = [s for s in SCALES if sum(slopes) / 3 * s <= 0.03 and max(slopes) * s <= 0.06]
    lowest = min(map(own, allowed), default=BEFORE)
    if lowest >= BEFORE:
        assert (found.scale, found.helps) == (SCALES[-1], False)
    else:
        gains = {scale: BEFORE - own(scale) for scale in allowed}
        largest = max(scale for scale in allowed if gains[scale] >= (BEFORE - lowest) / 2)
        assert (found.scale, found.helps) == (largest, True)
    assert [one["scale"] for one in found.tried] == sorted((one["scale"] for one in found.tried), reverse=True)
    assert found.scale in [one["scale"] for one in found.tried] or not found.helps


def test_one_text_that_rises_much_is_enough_to_refuse_a_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    found = calibrated(monkeypatch, lambda scale: BEFORE - scale, lambda scale: [0.08 * scale, 0.0, 0.0])
    assert found.scale == 0.7
    refused = next(one for one in found.tried if one["scale"] == 1)
    assert refused["loss"] is None
    assert [one["name"] for one in refused["neutral"]] == [IMPRINT_TEXTS[0]], "the others need not be read"


def test_an_update_that_may_be_applied_whole_costs_one_reading_of_the_neutral_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = calibrated(monkeypatch, lambda scale: BEFORE - scale, lambda _: [0.0, 0.01, 0.0])
    assert [(one["scale"], one["loss"], len(one["neutral"])) for one in found.tried] == [(1.0, 1.0, 3), (0.7, 1.3, 0)]


@pytest.mark.parametrize(
    ("follows", "own", "scale", "helps"),
    [
        (lambda scale: scale * (scale - 0.6), lambda scale: -scale, 0.5, True),  # best at .35 and .25, by .0875
        (lambda scale: scale, lambda scale: -scale, 0.12, True),
        (lambda scale: scale, lambda scale: scale, 0.12, False),
    ],
)
def test_trials_decide_by_what_a_half_does_to_the_other(
    monkeypatch: pytest.MonkeyPatch,
    follows: Callable[[float], float],
    own: Callable[[float], float],
    scale: float,
    helps: bool,
) -> None:
    """The whole update does as `own` to the text, one half as `follows` to the other, which does nothing to it."""
    whole: Any = {"down_proj": "whole"}
    half: Any = {"down_proj": "half"}
    read, later, earlier = (Window((token,) * 4, (True,) * 4) for token in (1, 2, 3))
    now: list[tuple[Any, float]] = []

    @contextmanager
    def applied(_: object, factors: Any, *__: object, scaling: float) -> Iterator[None]:
        now.append((factors, scaling))
        yield
        now.pop()

    def loss(_: object, windows: Any, *__: object) -> float:
        (scored,) = windows
        if not now:
            return BEFORE
        factors, scaling = now[-1]
        expected = {1: (whole, own), 2: (half, follows), 3: (half, lambda _: 0.0)}[scored.input_ids[0]]
        assert factors is expected[0]
        return BEFORE + expected[1](scaling)

    monkeypatch.setattr(module, "applied", applied)
    monkeypatch.setattr(module, "mean_loss", loss)
    monkeypatch.setattr(module, "neutral_loss", lambda *_, **__: BEFORE)
    monkeypatch.setattr(module, "neutral_loss_of_base", lambda *_: BEFORE)
    nothing: Any = None
    base: Any = type("Base", (), {"model": None, "tokenizer": None, "device": None})
    found = calibrate(
        base,
        imprinted(nothing, whole, Trial(half, (later,)), Trial(half, (earlier,))),
        [read],
        Readers(nothing, nothing, nothing, nothing),
    )
    assert (found.scale, found.helps) == (scale, helps)
    losses = {one["scale"]: one["loss"] for one in found.tried}
    assert losses[scale] == pytest.approx(BEFORE + follows(scale) / 2)


def test_every_second_supervised_token_is_scored_and_the_last_one_always() -> None:
    thin = thinned(Window((1, 2, 3, 4, 5, 6), (True, True, False, True, True, False)))
    assert thin.supervised == (False, True, False, False, True, False)
    assert thin.input_ids == (1, 2, 3, 4, 5, 6)


def test_a_scale_whose_losses_are_no_numbers_is_neither_taken_nor_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = calibrated(
        monkeypatch, lambda scale: BEFORE - scale, lambda scale: [float("nan") if scale > 0.3 else 0.0] * 3
    )
    assert (found.scale, found.helps) == (0.25, True)
    assert not any(one["neutral"] for one in found.tried if one["scale"] > 0.3)


@pytest.fixture
def update(base: LoadedBase) -> tuple[AdapterPlace, dict[str, Factors]]:
    """Random, of the second block alone."""
    place = AdapterPlace.model_validate(place_in(base.model, layer_indices=(1,)))
    return place, random_factors(place, size=0.01)


def test_the_losses_of_each_scale_are_those_of_its_files_under_stock_peft(
    base: LoadedBase, windows: list[Window], update: tuple[AdapterPlace, dict[str, Factors]], tmp_path: Path
) -> None:
    config, factors = update
    found = calibrate(base, imprinted(config, factors), windows, readers(base, 1))
    assert len(found.tried) >= 2
    scored = [thinned(window) for window in windows]
    for number, tried in enumerate(found.tried):
        payload = to_peft(factors, config, base.model, scaling=tried["scale"])
        with attached(base, saved(tmp_path / str(number), payload)) as model:
            if tried["loss"] is not None:
                assert tried["loss"] == pytest.approx(mean_loss(model, scored, base.device), rel=1e-5)
            for one in tried["neutral"]:
                whole = mean_loss(model, [neutral_window(base.tokenizer, one["name"], NEUTRAL_TOKENS)], base.device)
                assert one["loss"] == pytest.approx(whole, rel=1e-5)


def test_blocks_below_the_update_run_once_for_all_scales(
    base: LoadedBase, windows: list[Window], update: tuple[AdapterPlace, dict[str, Factors]]
) -> None:
    config, factors = update
    reads, made = readers(base, 1), imprinted(config, factors)
    calibrate(base, made, windows, reads)
    runs = []
    hook = decoder(base.model).layers[0].register_forward_hook(lambda *_: runs.append(1))
    again = calibrate(base, made, windows, reads)
    hook.remove()
    assert not runs
    assert len(again.tried) >= 2
