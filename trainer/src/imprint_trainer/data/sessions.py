"""Several sessions in one training: the windows of each, one after the other."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.prepare import Counted, Prepared, counted, prepare_windows
from imprint_trainer.data.session import load_session
from imprint_trainer.protocol import PreviewSpec

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def prepare_sessions(spec: PreviewSpec, tokenizer: "PreTrainedTokenizerBase") -> Prepared:
    """What `spec` would train: the one way, for previews and for trainings.

    Raises what `load_session` and `prepare_windows` raise, for the first session with a fault.
    """
    return together(
        [
            prepare_windows(
                load_session(path),
                tokenizer,
                max_length=spec.max_length,
                include_unsuccessful=spec.include_unsuccessful,
                reasoning=spec.reasoning,
                train_on=spec.train_on if isinstance(spec.train_on, str) else ("turns", spec.train_on.turns),
            )
            for path in spec.session_paths
        ]
    )


def together(parts: Sequence[Prepared]) -> Prepared:
    return Prepared(
        windows=tuple(window for part in parts for window in part.windows),
        tokens=sum(part.tokens for part in parts),
        supervised_tokens=sum(part.supervised_tokens for part in parts),
        supervised_turns=sum(part.supervised_turns for part in parts),
        dropped=summed(part.dropped for part in parts),
        changed=summed(part.changed for part in parts),
        turns=tuple(turn for part in parts for turn in part.turns),
    )


def summed(lists: Iterable[Sequence[Counted]]) -> tuple[Counted, ...]:
    sums: Counter[str] = Counter()
    for found in lists:
        sums.update({one.reason: one.count for one in found})
    return counted(sums)


def sizes(prepared: Prepared) -> dict[str, Any]:
    """What the contracts' `Preview` and `TrainingPlan` both say."""
    return {
        "windows": len(prepared.windows),
        "tokens": prepared.tokens,
        "supervised_tokens": prepared.supervised_tokens,
        "supervised_turns": prepared.supervised_turns,
        "dropped": [asdict(one) for one in prepared.dropped],
        "changed": [asdict(one) for one in prepared.changed],
    }
