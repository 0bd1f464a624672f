"""Several sessions in one training: the windows of each, one after the other."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.holdout import HeldOut, Split, last_part, recorded, sampled, split_of
from imprint_trainer.data.names import Named, another_pass, other_words
from imprint_trainer.data.plan import USUAL, window_length
from imprint_trainer.data.prepare import Counted, Prepared, Skipped, Turn, counted, prepare_windows
from imprint_trainer.data.select import agent_words, turn_keys
from imprint_trainer.data.session import Session, load_session
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import (
    NothingToTrain,
    SessionInvalid,
    SessionUnsuccessful,
    TemplateUnsupported,
    TrainerError,
)
from imprint_trainer.protocol import PreviewSpec, Turns

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

UNTRAINABLE = (SessionInvalid, SessionUnsuccessful, NothingToTrain, TemplateUnsupported)
NAMED = 5  # sessions that an error names


@dataclass
class Preparing:
    """What the sessions of a training have come to so far."""

    spec: PreviewSpec
    tokenizer: "PreTrainedTokenizerBase"
    limit: int  # tokens of a window, where the spec leaves its length open
    whole: int = 0  # tokens of the longest session, were it one window
    parts: list[Prepared] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    faults: list[TrainerError] = field(default_factory=list)
    taught: dict[str, str] = field(default_factory=dict)  # the key of a turn, and the session that teaches it
    said: set[str] = field(default_factory=set)  # what the turns say that are on the side of the training
    tested: list[tuple[str, tuple[Window, ...]]] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)  # of the sessions that are held out
    last_part: tuple[Session, int] | None = None
    named: Named = field(default_factory=Named)

    def paths(self) -> list[tuple[str, str]]:
        return list(zip(self.spec.session_ids, self.spec.session_paths, strict=True))

    def split(self) -> Split:
        """Sessions that cannot be read are on no side."""
        found = []
        for _, path in self.paths() if self.spec.holdout != "none" else ():
            with suppress(SessionInvalid, NothingToTrain):
                found.append(recorded(load_session(path), reasoning=self.spec.reasoning))
        return split_of(found, self.spec.holdout)

    @contextmanager
    def skipping(self, session_id: str) -> Iterator[None]:
        """Names a session that cannot be trained, and skips it where the request allows that."""
        try:
            yield
        except UNTRAINABLE as error:
            fault = type(error)(naming(session_id, error.message))
            if not self.spec.skip_invalid:
                raise fault from error
            self.faults.append(fault)
            self.skipped.append(Skipped(session_id, fault.code, fault.message))

    def windows(
        self,
        session: Session,
        *,
        stop: int | None = None,
        apart: Mapping[int, str] | None = None,
        elsewhere: Mapping[int, str] | None = None,
    ) -> Prepared:
        """Of the steps before `stop`."""
        chosen = self.spec.train_on
        if stop is not None and not isinstance(chosen, str):
            chosen = Turns(turns=[turn for turn in chosen.turns if turn < stop])
        part = prepare_windows(
            session.model_copy(update={"steps": session.steps[:stop]}),
            self.tokenizer,
            max_length=self.spec.max_length or self.limit,
            include_unsuccessful=self.spec.include_unsuccessful,
            reasoning=self.spec.reasoning,
            train_on=chosen if isinstance(chosen, str) else ("turns", chosen.turns),
            elsewhere=elsewhere,
            apart=apart,
        )
        self.whole = max(self.whole, part.whole)
        return part

    def train(
        self, session_id: str, session: Session, *, share: float | None = None, stop: int | None = None
    ) -> Session:
        """The part that is trained. `share`: of its supervised tokens, at its end, that is held out where it is long
        enough; None: nothing is. `stop`: the step from which on it is known to be held out."""
        keys = turn_keys(session, reasoning=self.spec.reasoning)
        elsewhere = {index: self.taught[key] for index, key in enumerate(keys) if key in self.taught}
        part = self.windows(session, stop=stop, elsewhere=elsewhere)
        start = None if share is None else last_part(part.windows, share)
        if start is not None:
            self.last_part = (session, start)
            part = self.windows(session, stop=start, elsewhere=elsewhere)
        self.parts.append(part)
        self.taught |= {keys[turn.step]: session_id for turn in part.turns if turn.reason is None}
        words = agent_words(session, reasoning=self.spec.reasoning)
        self.said |= {said for step, said in words.items() if start is None or step < start}
        return session.model_copy(update={"steps": session.steps[: start or stop]})

    def test(self, session: Session, start: int) -> None:
        """Holds out a session from step `start` on; what the trained side says too is no target."""
        words = agent_words(session, reasoning=self.spec.reasoning)
        known = {step: "held_out_shared" for step, said in words.items() if said in self.said}
        part = self.windows(session, apart=known | dict.fromkeys(range(start), "trained"))
        self.said |= {words[turn.step] for turn in part.turns if turn.reason is None}
        self.tested.append((session.session_id, part.windows))
        self.turns += [replace(turn, reason=turn.reason or "held_out") for turn in part.turns if turn.step >= start]


def prepare_sessions(spec: PreviewSpec, tokenizer: "PreTrainedTokenizerBase", *, limit: int = USUAL) -> Prepared:
    """What `spec` would train: the one way, for previews and for trainings.

    A turn that several sessions share is supervised in the first of them that teaches it. `limit`: tokens of a window
    at most, where the spec leaves its length open. Raises what `load_session` and `prepare_windows` raise, for the
    first session that cannot be trained; with `skip_invalid` only when none can.
    """
    work = Preparing(spec, tokenizer, limit)
    work.skipped += [Skipped(one.session_id, SessionInvalid.code, one.message) for one in spec.unreadable]
    work.faults += [SessionInvalid(one.message) for one in spec.unreadable]
    split = work.split()
    for session_id, path in work.paths():
        if session_id not in split.whole:
            with work.skipping(session_id):
                share = split.share if session_id == split.last_part_of else None
                trained = work.train(session_id, load_session(path), share=share)
                if spec.profile == "learn":
                    work.named.add(trained)
    if not work.parts:
        raise none_of(work.faults)
    for session_id, path in work.paths():
        if session_id in split.whole:
            with work.skipping(session_id):
                work.test(load_session(path), 0)
    if work.last_part is not None:
        with suppress(NothingToTrain):  # another recording teaches all of it
            work.test(*work.last_part)
    return together(work)


def under_other_names(
    spec: PreviewSpec, tokenizer: "PreTrainedTokenizerBase", prepared: Prepared, number: int
) -> tuple[Window, ...]:
    """The windows of another pass, by its number, over what `prepared` trains: each session under names of its own,
    without what the person refused and some of what the agent says."""
    pool = other_words(tokenizer.get_vocab(), prepared.taken)
    work = Preparing(spec.model_copy(update={"max_length": prepared.max_length}), tokenizer, prepared.max_length)
    held_out = prepared.held_out.sessions if prepared.held_out else ()
    whole = not isinstance(spec.train_on, str)
    for session_id, path in work.paths():
        if session_id not in held_out or prepared.trained_until is not None:
            stop = prepared.trained_until if session_id in held_out else None
            with suppress(*UNTRAINABLE):
                session = load_session(path)
                session = session.model_copy(update={"steps": session.steps[:stop]})
                work.train(session_id, another_pass(session, prepared.arguments, pool, number, whole=whole), stop=stop)
    return tuple(window for part in work.parts for window in part.windows)


def naming(session_id: str, message: str) -> str:
    return message if f"session {session_id}" in message else f"Session {session_id}: {message}"


def none_of(faults: Sequence[TrainerError]) -> TrainerError:
    """One fault as it is; several under the code of the first."""
    if len(faults) == 1:
        return faults[0]
    named = " ".join(fault.message for fault in faults[:NAMED])
    more = f" And {len(faults) - NAMED} more." if len(faults) > NAMED else ""
    return type(faults[0])(f"None of the {len(faults)} sessions can be trained. {named}{more}")


def together(work: Preparing) -> Prepared:
    parts = work.parts
    sessions = tuple(session_id for session_id, _ in work.tested)
    held_out = HeldOut(sessions, sampled(work.tested), whole=work.last_part is None) if sessions else None
    apart = Counter(turn.reason for turn in work.turns if turn.reason is not None)
    return Prepared(
        windows=tuple(window for part in parts for window in part.windows),
        tokens=sum(part.tokens for part in parts),
        supervised_tokens=sum(part.supervised_tokens for part in parts),
        supervised_turns=sum(part.supervised_turns for part in parts),
        dropped=summed([*(part.dropped for part in parts), counted(apart)]),
        changed=summed(part.changed for part in parts),
        turns=(*(turn for part in parts for turn in part.turns), *work.turns),
        shared=tuple(one for part in parts for one in part.shared),
        skipped=tuple(work.skipped),
        whole=work.whole,
        text=sum(part.text for part in parts),
        max_length=window_length(work.spec.max_length, limit=work.limit, needed=work.whole),
        held_out=held_out,
        trained_until=None if work.last_part is None else work.last_part[1],
        arguments=work.named.arguments(),
        taken=frozenset(work.named.said),
        remarks=tuple(remarks_of(work.spec, held_out)),
    )


def remarks_of(spec: PreviewSpec, held_out: HeldOut | None) -> Iterator[str]:
    """What to know before the start."""
    if spec.profile == "remember" and spec.epochs is None:
        yield (
            "The profile remember learns these sessions by heart, and makes the model worse at other work: "
            "take the profile learn for what transfers."
        )
    if spec.holdout != "none" and held_out is None:
        yield "Nothing can be held out of so short sessions: whether the adapter helps on other work is not measured."


def summed(lists: Iterable[Sequence[Counted]]) -> tuple[Counted, ...]:
    sums: Counter[str] = Counter()
    for found in lists:
        sums.update({one.reason: one.count for one in found})
    return counted(sums)


def sizes(prepared: Prepared, passes: int) -> dict[str, Any]:
    """What the contracts' `Preview` and `TrainingPlan` both say."""
    arguments = prepared.arguments if passes > 1 else ()
    shown = ", ".join(arguments[:NAMED]) + (f" and {len(arguments) - NAMED} more" if len(arguments) > NAMED else "")
    renamed = f"After the first pass other words stand for what only some requests name: {shown}."
    return {
        "windows": len(prepared.windows),
        "tokens": prepared.tokens,
        "supervised_tokens": prepared.supervised_tokens,
        "supervised_turns": prepared.supervised_turns,
        "held_out": held_out_plan(prepared.held_out),
        "remarks": [*([renamed] if arguments else []), *prepared.remarks],
        "dropped": [asdict(one) for one in prepared.dropped],
        "changed": [asdict(one) for one in prepared.changed],
        "shared": [asdict(one) for one in prepared.shared],
        "skipped": [asdict(one) for one in prepared.skipped],
    }


def held_out_plan(held_out: HeldOut | None) -> dict[str, Any] | None:
    """The contracts' `HeldOutPlan`."""
    if held_out is None:
        return None
    windows = [window for _, window in held_out.windows]
    return {
        "sessions": list(held_out.sessions),
        "whole": held_out.whole,
        "windows": len(windows),
        "tokens": sum(len(window.input_ids) for window in windows),
        "supervised_tokens": sum(window.supervised_count for window in windows),
    }
