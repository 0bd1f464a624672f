"""How many steps a training takes and what each reads: decided by the windows and the settings alone (ADR 45).

Imports no torch: a preview plans with it too.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from imprint_trainer.data.windows import Window
from imprint_trainer.protocol import Profile

# Chosen by docs/results.md for the default model; wider bases take less (docs/adr/0022).
RATE, WIDTH = 1e-3, 576
STEP_TOKENS = 512  # supervised ones that a step learns from: steps do not depend on how long windows are (ADR 45)
LITTLE = 8_192  # fewer in an epoch: `learn` takes steps half as large, at half the rate
STEPS_PER_EPOCH = 16  # more tokens make one step only where an epoch still has this many steps
MOST_TIMES = 8  # as many tokens
OVER = 1 / 3  # of a step's tokens, that a window may have more before it is learned in parts
OPEN_ENDED_TOKENS, OPEN_ENDED_READ = 24_000, 100_000  # supervised and read ones at most of an open-ended training
OPEN_ENDED_MIN_EPOCHS, OPEN_ENDED_MAX_EPOCHS = 3, 40


@dataclass(frozen=True)
class Learn:
    tokens: int = 100_000  # supervised ones: little text is read several times, much of it once
    usual: int = 2  # passes
    steps: int = 8  # of the usual tokens, at least, where few windows can be read up to `most` times
    most: int = 4
    renamed_steps: int = 24  # where each pass reads other names (ADR 49): words that differ are not learned by heart
    renamed_most: int = 8
    patience: int = 1  # epochs without a lower held-out loss

    def passes(self, tokens: int, steps: int, renamed: bool) -> int:
        """Epochs over so many supervised tokens, which take so many optimizer steps."""
        least, most = (self.renamed_steps, self.renamed_most) if renamed else (self.steps, self.most)
        enough = min(math.ceil(least / max(steps, 1)), most)
        return min(max(self.tokens // max(tokens, 1), 1), max(self.usual, enough))


LEARN = Learn()


def default_rate(width: int, *, step: int = STEP_TOKENS) -> float:
    """Peak learning rate for a base model with hidden states of `width`; in proportion to steps of fewer than the usual
    tokens (Goyal et al., 2017, section 2.1)."""
    return RATE * math.sqrt(WIDTH / max(width, WIDTH)) * min(1.0, step / STEP_TOKENS)


class LoraTraining(BaseModel):
    """Hyper-parameters of one adapter; every field is recorded in training.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Profile = "remember"
    seed: int = Field(ge=0, le=2**32 - 1)
    epochs: int | None = Field(default=None, ge=1, le=100)  # None: see plan_steps
    rank: int = Field(default=16, ge=1, le=256)
    alpha: float = Field(default=32.0, gt=0)
    learning_rate: float = Field(default=RATE, gt=0, le=0.1)
    target_modules: tuple[str, ...] | None = None  # None: every linear layer but the output head
    max_length: int = Field(default=1024, ge=64)
    quantization: Literal["nf4", "none"] = "nf4"
    warmup_fraction: float = Field(default=0.06, ge=0, lt=1)
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    accumulation: int | None = Field(default=None, ge=1)  # windows a step; None: by their supervised tokens

    @property
    def open_ended(self) -> bool:
        """Trained until the loss stops improving, or a budget ends."""
        return self.epochs is None and self.profile == "remember"


@dataclass(frozen=True)
class Steps:
    accumulation: int  # windows, or parts of them, that an optimizer step sums: on average
    per_epoch: int
    max_epochs: int
    tokens: int = 0  # read in an epoch

    @property
    def maximum(self) -> int:
        return self.per_epoch * self.max_epochs


def supervised_tokens(windows: Sequence[Window]) -> int:
    return sum(window.supervised_count for window in windows)


def step_tokens(supervised: int, profile: Profile) -> int:
    """Supervised tokens that one step learns from, of so many in an epoch: few at first, so that there are enough
    steps; up to eight times as many of much text."""
    if profile == "learn" and STEP_TOKENS <= supervised < LITTLE:  # of less there would be no more steps
        return STEP_TOKENS // 2
    tokens = STEP_TOKENS
    while tokens < MOST_TIMES * STEP_TOKENS and supervised // (2 * tokens) >= STEPS_PER_EPOCH:
        tokens *= 2
    return tokens


def in_parts(windows: Sequence[Window], training: LoraTraining, *, least: int = 1) -> list[Window]:
    """What the steps read, `least` in number: windows, and of those that teach more than one step learns from, parts. A
    part is the window up to the last of its share of the targets: all that stands before them is context."""
    if training.accumulation is not None:
        return list(windows)
    most: float = step_tokens(supervised_tokens(windows), training.profile)
    while True:
        counts = [max(math.ceil(window.supervised_count / most - OVER), 1) for window in windows]
        if sum(counts) >= least or most < 1.2:
            return [part for window, count in zip(windows, counts, strict=True) for part in parts(window, count)]
        most *= 0.9


def parts(window: Window, count: int) -> list[Window]:
    if count <= 1:
        return [window]
    targets = window.targets
    found = []
    for number in range(count):
        share = targets[len(targets) * number // count : len(targets) * (number + 1) // count]
        chosen, end = frozenset(share), share[-1] + 1
        found.append(Window(window.input_ids[:end], tuple(index in chosen for index in range(end))))
    return found


def plan_steps(
    windows: Sequence[Window], training: LoraTraining, text: int | None = None, *, renamed: bool = False
) -> Steps:
    """Of what `in_parts` gives. With `accumulation`, the last, partial batch of an epoch is a step too. `text`: tokens
    of the sessions before they were cut, of which short windows show less; None: those of the windows. `renamed`: each
    pass reads other names."""
    supervised = supervised_tokens(windows)
    size = step_tokens(supervised, training.profile)
    if training.accumulation is not None:
        per_epoch = math.ceil(len(windows) / training.accumulation)
    else:
        per_epoch = min(max(1, round(supervised / size)), len(windows))
    tokens, epochs = sum(len(window.input_ids) for window in windows), training.epochs
    if training.open_ended:
        enough = min(OPEN_ENDED_TOKENS // max(1, supervised), OPEN_ENDED_READ // (text or tokens))
        epochs = min(OPEN_ENDED_MAX_EPOCHS, max(OPEN_ENDED_MIN_EPOCHS, enough))
    accumulation = training.accumulation or max(1, round(len(windows) / per_epoch))
    if epochs is None:
        epochs = LEARN.passes(supervised, per_epoch * size // STEP_TOKENS, renamed)
    return Steps(accumulation, per_epoch, epochs, tokens)


def epoch_order(windows: Sequence[Window], *, seed: int, epoch: int) -> list[int]:
    """A seeded shuffle; the first epoch begins with the longest window, so that running out of memory shows at once."""
    order = list(range(len(windows)))
    random.Random(f"{seed}:{epoch}").shuffle(order)
    if epoch == 0:
        longest = max(order, key=lambda index: (len(windows[index].input_ids), -index))
        order.remove(longest)
        order.insert(0, longest)
    return order


def batches(order: Sequence[int], size: int) -> list[list[int]]:
    """Consecutive groups of `size`; the last may be smaller."""
    return [list(order[start : start + size]) for start in range(0, len(order), size)]


def even_batches(order: Sequence[int], windows: Sequence[Window], count: int) -> list[list[int]]:
    """`count` consecutive groups, none empty, with about as many supervised tokens each."""
    total, taken = sum(windows[index].supervised_count for index in order), 0
    found: list[list[int]] = [[]]
    for position, index in enumerate(order):
        tokens, left = windows[index].supervised_count, count - len(found)
        full = taken + tokens / 2 >= total * len(found) / count  # more of it would be in the next group
        if found[-1] and left and (full or len(order) - position <= left):
            found.append([])
        found[-1].append(index)
        taken += tokens
    return found
