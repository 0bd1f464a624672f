"""What would be trained, as text and without a model: made of the very windows that a training uses."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.prepare import Prepared
from imprint_trainer.data.sessions import prepare_sessions, sizes
from imprint_trainer.data.windows import Window, longest
from imprint_trainer.lora.steps import LoraTraining, Steps
from imprint_trainer.lora.within import Fit, Within
from imprint_trainer.models.device import Device
from imprint_trainer.models.locate import locate_base, model_config
from imprint_trainer.models.memory import planned_memory, window_limit
from imprint_trainer.models.supported import cut_towers, made_by
from imprint_trainer.protocol import PreviewSpec

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


# A preview is one line of the protocol and one answer of the service: half a megabyte at most.
MOST_TEXT = 200_000  # characters of windows that are shown
UNKNOWN = "What fits into the time is chosen when the training has measured its speed: none has finished here yet."
MOST_TURNS = 500  # that are listed of several sessions; the preview of one session lists all of its turns


def preview_sessions(
    spec: PreviewSpec,
    tokenizer: Any,
    *,
    device: Device,
    window: int | None = None,
    tokens_per_second: float | None = None,
) -> dict[str, Any]:
    """The contracts' `Preview`, from the very code that trains. `window`: as `preview` takes it. `tokens_per_second`:
    of trainings before, by which is chosen what fits `within`. Raises TargetModulesNotFound."""
    if spec.target_modules is not None:
        check_targets(locate_base(spec.base_model).folder, spec.target_modules)
    prepared = prepare_sessions(spec, tokenizer, limit=window_limit(spec, device))
    training = LoraTraining(seed=0, profile=spec.profile, epochs=spec.epochs)
    fit = Fit.of(prepared, training)
    if spec.within is not None and tokens_per_second is None:
        fit = fit.noting(UNKNOWN)
    elif spec.within is not None and tokens_per_second is not None:
        fit = Within(spec.within, 0, tokens_per_second).fit(fit, training)
    memory = planned_memory(spec, longest(prepared.windows), device=device).memory
    return preview(fit.prepared, tokenizer, steps=fit.steps, memory=memory, window=window)


def check_targets(folder: Path, targets: Sequence[str]) -> None:
    """Raises TargetModulesNotFound as a training would."""
    from imprint_trainer.lora.adapter import resolve_targets  # torch takes seconds

    config = model_config(folder)
    cut_towers(config)
    resolve_targets(made_by(config, folder.name)[1], targets)


def preview(
    prepared: Prepared,
    tokenizer: "PreTrainedTokenizerBase",
    *,
    steps: Steps,
    memory: dict[str, Any] | None = None,
    window: int | None = None,
) -> dict[str, Any]:
    """The contracts' `Preview`, with its `memory` as given. The spans of a window joined are the decoded window.

    `window`: number of the one, from 1, that the text begins with and shows whole, however long; none where there are
    fewer. None: the text begins with the first one, of which it shows as much as there is room for.
    """
    several = len({turn.session_id for turn in prepared.turns}) > 1
    turns = prepared.turns[:MOST_TURNS] if several else prepared.turns
    left_out = len(prepared.turns) - len(turns)
    text = list(shown(prepared.windows[(window or 1) - 1 :], tokenizer))
    cut = max(0, length(text[0]) - MOST_TEXT) if text and window is None else 0
    return {
        **sizes(prepared, steps.max_epochs),
        "max_steps": steps.maximum,
        "max_tokens": steps.tokens * steps.max_epochs,
        "memory": memory,
        "turns": [
            {
                "session_id": turn.session_id,
                "turn": turn.step,
                "supervised": turn.reason is None,
                "reason": turn.reason,
                "text": turn.text,
            }
            for turn in turns
        ],
        **({"turns_left_out": left_out} if left_out else {}),
        "text": [beginning(text[0], MOST_TEXT)] if cut else text,
        "first_window": window or 1,
        **({"text_left_out": cut} if cut else {}),
    }


def shown(windows: Sequence[Window], tokenizer: "PreTrainedTokenizerBase") -> Iterator[list[dict[str, Any]]]:
    """The first window, and those after it as far as there is room."""
    characters = 0
    for window in windows:
        found = spans(window, tokenizer)
        characters += length(found)
        if window is windows[0] or characters <= MOST_TEXT:
            yield found
        if characters > MOST_TEXT:
            return


def length(found: Sequence[dict[str, Any]]) -> int:
    return sum(len(span["text"]) for span in found)


def beginning(found: Sequence[dict[str, Any]], characters: int) -> list[dict[str, Any]]:
    """The spans of a window, their texts cut after so many characters together."""
    starts = accumulate((len(span["text"]) for span in found), initial=0)
    return [
        {**span, "text": span["text"][: max(0, characters - start)]} for span, start in zip(found, starts, strict=False)
    ]


def spans(window: Window, tokenizer: "PreTrainedTokenizerBase") -> list[dict[str, Any]]:
    """Stretches of equal mask. A character whose tokens fall into two of them stands in the second."""

    def decoded(ids: tuple[int, ...]) -> str:
        return str(tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    runs = [(mask, len(list(run))) for mask, run in groupby(window.supervised)]
    whole = decoded(window.input_ids)
    texts, position = [], 0
    for _, length in runs:
        texts.append(decoded(window.input_ids[position : position + length]))
        position += length
    if "".join(texts) != whole:
        texts = differences(whole, [decoded(window.input_ids[:end]) for end in ends(runs)])
    return [
        {"text": text, "supervised": mask, "tokens": length} for text, (mask, length) in zip(texts, runs, strict=True)
    ]


def ends(runs: list[tuple[bool, int]]) -> list[int]:
    return [sum(length for _, length in runs[: index + 1]) for index in range(len(runs))]


def differences(whole: str, prefixes: list[str]) -> list[str]:
    """What each longer and longer prefix adds to the one before, where a torn character counts as not yet there."""
    texts, reached = [], 0
    for prefix in prefixes:
        common = next(
            (n for n, (a, b) in enumerate(zip(whole, prefix, strict=False)) if a != b), min(len(whole), len(prefix))
        )
        texts.append(whole[reached:common] if common > reached else "")
        reached = max(reached, common)
    return texts
