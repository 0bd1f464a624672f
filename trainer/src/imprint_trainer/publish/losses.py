"""What an adapter does to held-out and to neutral text. Hidden states below its lowest block, which it does not change,
are computed once for all readings.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from imprint_trainer.data.holdout import HeldOut
from imprint_trainer.data.windows import Window
from imprint_trainer.lora.loss import Read, mean_loss, read_whole
from imprint_trainer.lora.within import NEUTRAL_TOKENS
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.models.head import can_be_cut, entered_by, layer_slice

States = dict[tuple[int, ...], Tensor]  # by ids: what enters the first adapted block, or leaves the last, [1, n, d]

# Proofs of trainings read the mixed one, those of imprints IMPRINT_TEXTS, evaluations all of them.
TEXTS = {
    "mixed": "neutral.txt",
    "letter": "neutral-letter.txt",
    "python": "neutral-python.txt",
    "shell": "neutral-shell.txt",
}
# Not the shell's: what programs print is what sessions are full of (ADR 35).
IMPRINT_TEXTS = ("mixed", "letter", "python")
BOOTSTRAP_SEED = 0
WORSE = (
    "On the held-out part the loss rises: what was trained was learned by heart, and the model is worse at other parts "
    "of the work."
)


@dataclass(frozen=True)
class Change:
    """Summed losses of the supervised tokens of one unit: a session, a window, a turn or a token."""

    tokens: int
    before: float
    after: float


def held_out_proof(held_out: HeldOut, before: Sequence[Tensor], after: Sequence[Tensor]) -> dict[str, Any]:
    """The contracts' `HeldOutProof`, from the losses of each window without and with the adapter."""
    total = summed([(0, change) for change in token_changes(before, after)])[0]
    units = units_of(held_out, before, after)
    return {
        "tokens": total.tokens,
        "loss_before": total.before / total.tokens,
        "loss_after": total.after / total.tokens,
        "interval": list(interval(units, mean_change, BOOTSTRAP_SEED) or (mean_change(units),) * 2),
    }


def units_of(held_out: HeldOut, before: Sequence[Tensor], after: Sequence[Tensor]) -> list[Change]:
    """Sessions where there are several, else windows, else turns, else tokens: what a bootstrap draws from."""
    changes = token_changes(before, after)
    sessions, windows, turns = [], [], []
    for number, (session_id, window) in enumerate(held_out.windows):
        starts = [answer.start for answer in window.answers[1:]]
        for index in window.targets:
            sessions.append(session_id)
            windows.append(number)
            turns.append((number, sum(start <= index for start in starts)))
    for level in (sessions, windows, turns):
        units = summed(list(zip(level, changes, strict=True)))
        if len(units) > 1:
            return units
    return changes


def token_changes(before: Sequence[Tensor], after: Sequence[Tensor]) -> list[Change]:
    pairs = zip(torch.cat(list(before)).tolist(), torch.cat(list(after)).tolist(), strict=True)
    return [Change(1, one, other) for one, other in pairs]


def summed(changes: Sequence[tuple[object, Change]]) -> list[Change]:
    groups: defaultdict[object, list[Change]] = defaultdict(list)
    for key, change in changes:
        groups[key].append(change)
    return [
        Change(sum(c.tokens for c in found), sum(c.before for c in found), sum(c.after for c in found))
        for found in groups.values()
    ]


def mean_change(units: Sequence[Change]) -> float:
    return sum(one.after - one.before for one in units) / sum(one.tokens for one in units)


def neutral_window(tokenizer: Any, name: str = "mixed", tokens: int = NEUTRAL_TOKENS) -> Window:
    """The first `tokens` of one of TEXTS."""
    text = files("imprint_trainer.publish").joinpath(TEXTS[name]).read_text(encoding="utf-8")
    ids = tuple(tokenizer(text, add_special_tokens=False)["input_ids"][:tokens])
    return Window(ids, (False, *(True,) * (len(ids) - 1)))


def neutral_loss(
    model: CausalLM,
    tokenizer: Any,
    device: torch.device,
    read: Read = read_whole,
    *,
    name: str = "mixed",
    tokens: int = NEUTRAL_TOKENS,
) -> float:
    """Nats per token."""
    return mean_loss(model, [neutral_window(tokenizer, name, tokens)], device, read)


def neutral_loss_of_base(
    base: LoadedBase, name: str = "mixed", tokens: int = NEUTRAL_TOKENS, read: Read = read_whole
) -> float:
    """Of the bare base, computed once while it is resident."""
    losses: dict[tuple[str, int], float] = base.memo.setdefault("neutral_loss", {})
    if (name, tokens) not in losses:
        losses[name, tokens] = neutral_loss(base.model, base.tokenizer, base.device, read, name=name, tokens=tokens)
    return losses[name, tokens]


def neutral_rise_over(base: LoadedBase) -> Callable[[CausalLM], float]:
    """By what share the loss on the neutral text of a training's proof is higher than the bare base's."""
    before = neutral_loss_of_base(base)
    return lambda model: neutral_loss(model, base.tokenizer, base.device) / before - 1


class Readers(NamedTuple):
    """Of an adapter's session, of neutral text, known while the base is resident, and of the session by the base."""

    session: Read
    neutral: Read
    bare: Read
    anew: Read  # as `bare`, which knows it then; the blocks run, whatever is known


def readers(base: LoadedBase, first_block: int) -> Readers:
    """For an adapter that changes no block below `first_block`."""
    kept: States = base.memo.setdefault(f"neutral text at block {first_block}", {})
    known: States = {}
    is_whole = first_block == 0 or not can_be_cut(base.model)
    session, neutral = (read_whole if is_whole else _reader(first_block, one) for one in ({}, kept))
    return Readers(session, neutral, _once(session, known), _once(session, known, anew=True))


def _once(read: Read, known: States, *, anew: bool = False) -> Read:
    """What was read is known, and the beginning of it, for no token sees the later ones. `anew`: it is read even so."""

    def again(model: CausalLM, inputs: Tensor) -> Tensor:
        ids = tuple(inputs[0].tolist())
        whole = ids if anew else next((one for one in known if one[: len(ids)] == ids), ids)
        if anew or whole not in known:
            known[whole] = read(model, inputs)
        return known[whole][:, : len(ids)]

    return again


def _reader(first_block: int, known: States) -> Read:
    def below(model: CausalLM, inputs: Tensor) -> Tensor:
        lower = layer_slice(model, 0, first_block, normed=False)
        hidden: Tensor = lower(input_ids=inputs, use_cache=False).last_hidden_state
        return hidden

    entering = _once(below, known)

    def read(model: CausalLM, inputs: Tensor) -> Tensor:
        states = entering(model, inputs)
        upper = layer_slice(model, first_block, None, normed=True)
        with entered_by(upper, states):
            hidden: Tensor = upper(inputs_embeds=states, use_cache=False).last_hidden_state
        return hidden

    return read


DRAWS = 2000
COVERAGE = 0.95

Interval = tuple[float, float]
Unit = TypeVar("Unit")


def drawn(units: Sequence[Unit], figure: Callable[[Sequence[Unit]], float], seed: int) -> list[float]:
    """The figure of DRAWS samples of as many units, in ascending order."""
    source = random.Random(seed)
    return sorted(figure(source.choices(units, k=len(units))) for _ in range(DRAWS))


def interval(units: Sequence[Unit], figure: Callable[[Sequence[Unit]], float], seed: int) -> Interval | None:
    """The 95 % percentile interval; None where there is but one unit to draw."""
    if len(units) < 2:
        return None
    found = drawn(units, figure, seed)
    return quantile(found, (1 - COVERAGE) / 2), quantile(found, (1 + COVERAGE) / 2)


def quantile(values: Sequence[float], share: float) -> float:
    """Of sorted values, with linear interpolation between neighbours (numpy's default)."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)
