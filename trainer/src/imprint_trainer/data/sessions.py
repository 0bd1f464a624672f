"""Several sessions in one training: the windows of each, one after the other."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.length import window_length
from imprint_trainer.data.prepare import Counted, Prepared, Skipped, counted, prepare_windows
from imprint_trainer.data.session import load_session
from imprint_trainer.data.shared import turn_keys
from imprint_trainer.errors import (
    NothingToTrain,
    SessionInvalid,
    SessionUnsuccessful,
    TemplateUnsupported,
    TrainerError,
)
from imprint_trainer.protocol import PreviewSpec

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

UNTRAINABLE = (SessionInvalid, SessionUnsuccessful, NothingToTrain, TemplateUnsupported)
NAMED = 5  # sessions that an error names


def prepare_sessions(spec: PreviewSpec, tokenizer: "PreTrainedTokenizerBase") -> Prepared:
    """What `spec` would train: the one way, for previews and for trainings.

    A turn that several sessions share is supervised in the first of them that teaches it. Raises what `load_session`
    and `prepare_windows` raise, for the first session that cannot be trained; with `skip_invalid` only when none can.
    """
    parts: list[Prepared] = []
    skipped = [Skipped(one.session_id, SessionInvalid.code, one.message) for one in spec.unreadable]
    faults: list[TrainerError] = [SessionInvalid(one.message) for one in spec.unreadable]
    taught: dict[str, str] = {}  # the key of a turn, and the session that teaches it
    for session_id, path in zip(spec.session_ids, spec.session_paths, strict=True):
        try:
            session = load_session(path)
            keys = turn_keys(session, reasoning=spec.reasoning)
            part = prepare_windows(
                session,
                tokenizer,
                max_length=window_length(spec.max_length),
                include_unsuccessful=spec.include_unsuccessful,
                reasoning=spec.reasoning,
                train_on=spec.train_on if isinstance(spec.train_on, str) else ("turns", spec.train_on.turns),
                elsewhere={index: taught[key] for index, key in enumerate(keys) if key in taught},
            )
        except UNTRAINABLE as error:
            fault = type(error)(naming(session_id, error.message))
            if not spec.skip_invalid:
                raise fault from error
            faults.append(fault)
            skipped.append(Skipped(session_id, fault.code, fault.message))
        else:
            parts.append(part)
            taught |= {keys[turn.step]: session_id for turn in part.turns if turn.reason is None}
    if not parts:
        raise none_of(faults)
    return together(parts, skipped)


def naming(session_id: str, message: str) -> str:
    return message if f"session {session_id}" in message else f"Session {session_id}: {message}"


def none_of(faults: Sequence[TrainerError]) -> TrainerError:
    """One fault as it is; several under the code of the first."""
    if len(faults) == 1:
        return faults[0]
    named = " ".join(fault.message for fault in faults[:NAMED])
    more = f" And {len(faults) - NAMED} more." if len(faults) > NAMED else ""
    return type(faults[0])(f"None of the {len(faults)} sessions can be trained. {named}{more}")


def together(parts: Sequence[Prepared], skipped: Sequence[Skipped]) -> Prepared:
    return Prepared(
        windows=tuple(window for part in parts for window in part.windows),
        tokens=sum(part.tokens for part in parts),
        supervised_tokens=sum(part.supervised_tokens for part in parts),
        supervised_turns=sum(part.supervised_turns for part in parts),
        dropped=summed(part.dropped for part in parts),
        changed=summed(part.changed for part in parts),
        turns=tuple(turn for part in parts for turn in part.turns),
        shared=tuple(one for part in parts for one in part.shared),
        skipped=tuple(skipped),
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
        "held_out": None,
        "remarks": [],
        "dropped": [asdict(one) for one in prepared.dropped],
        "changed": [asdict(one) for one in prepared.changed],
        "shared": [asdict(one) for one in prepared.shared],
        "skipped": [asdict(one) for one in prepared.skipped],
    }
