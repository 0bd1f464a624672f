import pytest
import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.evaluation.measure import Loss, Marked, Measured, total
from imprint_trainer.lora.loss import token_losses
from imprint_trainer.models.causal_lm import LoadedBase


def stock(base: LoadedBase, window: Window) -> tuple[list[float], list[bool]]:
    """By the model's own logits, position by position."""
    logits = base.model(input_ids=torch.tensor([window.input_ids])).logits[0].double()
    scores = torch.log_softmax(logits, dim=-1)
    places = [i for i, supervised in enumerate(window.supervised) if supervised and i]
    losses = [-float(scores[i - 1, window.input_ids[i]]) for i in places]
    return losses, [int(logits[i - 1].argmax()) == window.input_ids[i] for i in places]


def test_losses_and_hits_are_those_of_the_models_own_logits(base: LoadedBase, windows: list[Window]) -> None:
    ids = list(windows[0].input_ids)
    likeliest = base.model(input_ids=torch.tensor([ids])).logits[0].argmax(-1).tolist()
    right = Window((*ids[:10], likeliest[9], *ids[11:]), (*[False] * 10, True, *windows[0].supervised[11:]))
    for window in [right, *windows]:
        losses, hits = stock(base, window)
        nll, top1 = token_losses(base.model, window, base.device)
        assert nll.tolist() == pytest.approx(losses, rel=1e-4)
        assert top1.tolist() == hits
    assert stock(base, right)[1][0] is True


def test_sums_are_those_of_the_tokens() -> None:
    assert total([Loss(3.0, 2, 1), Loss(1.0, 3, 3)]) == Loss(4.0, 5, 4)
    assert (Loss(4.0, 5, 4).mean, Loss(4.0, 5, 4).top1_share) == (0.8, 0.8)


def test_targets_of_more_than_a_chunk_are_all_measured(base: LoadedBase) -> None:
    ids = tuple(10 + index % 290 for index in range(300))
    window = Window(ids, (True,) * 300)
    losses, _ = stock(base, window)
    nll, _ = token_losses(base.model, window, base.device)
    assert float(nll.sum()) == pytest.approx(sum(losses), rel=1e-4)


def test_a_window_without_targets_counts_for_nothing(base: LoadedBase) -> None:
    nll, hits = token_losses(base.model, Window((5, 6, 7), (False,) * 3), base.device)
    assert (len(nll), len(hits)) == (0, 0)
    assert Loss(0.0, 0, 0).mean == 0.0


def test_targets_are_summed_by_kind_and_averaged_by_turn() -> None:
    supervised = (True, False, True, True, False, True, False)  # nothing predicts the first
    marked = Marked(Window(tuple(range(7)), supervised), ["code", "prose", "code"])
    measured = Measured([1.0, 2.0, 6.0], [True, False, True])
    assert marked.by_kind(measured) == {"code": Loss(7.0, 2, 2), "prose": Loss(2.0, 1, 0)}
    assert marked.by_turn(measured) == [1.5, 6.0]
