"""From a canonical session to training windows: the one way, for previews and for trainings."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from imprint_trainer.data.codec import Codec, codec_for
from imprint_trainer.data.fit import excerpts, fitted_head, measured, shortened_outputs, sources_of
from imprint_trainer.data.holdout import HeldOut
from imprint_trainer.data.messages import Conversation, Writer, arranged, conversation, head, takes_calls
from imprint_trainer.data.render import Renderer
from imprint_trainer.data.select import TrainOn, supervised_steps
from imprint_trainer.data.session import Session
from imprint_trainer.data.templates import ChatTemplate, Message, Traits, chat_template, listing_tools, traits_of
from imprint_trainer.data.windows import Builder, Cut, Window, skip_tokens
from imprint_trainer.errors import NothingToTrain, TemplateUnsupported

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TURN_TEXT = 200  # characters of a turn that a preview quotes


@dataclass(frozen=True)
class Counted:
    """What is not learned, or learned in another form than it was recorded in, and how often.

    Not learned are turns that are context only (`failed`, `weight_zero`, `aborted`, `refused`, `edited`,
    `synthetic`, `copied`, `duplicate_turn`, `shared_turn`: another session of the training teaches it,
    `held_out`: tested on, `held_out_shared`: would be, but another turn that is trained says the same, `not_selected`,
    and `edit_target_cut`: edits of a text that does not stand in their window) and turns that are left out
    (`empty_turn`, `before_task`, `context_left_out`). Changed are texts (`task_shortened`, `system_shortened`,
    `user_text_shortened`, `request_shortened`, `tool_output_shortened`, `context_shortened`: of the first turn of a
    window, `answer_split`), tools (`tools_shortened`, `tool_list_as_text`: a list that the template has no place
    for), calls (`tool_syntax_as_text`), windows (`edit_target_excerpted`: they bring along what an edit replaces)
    and tokens that are no targets (`secret_not_supervised`: what stands for secrets, `token_across_role_header`:
    first ones of turns).
    """

    reason: str
    count: int


@dataclass(frozen=True)
class Turn:
    """An agent step of a session: supervised, or the reason why not."""

    session_id: str
    step: int
    reason: str | None
    text: str


@dataclass(frozen=True)
class Shared:
    """How many turns of a session are supervised in another one."""

    session_id: str
    supervised_in: str
    turns: int


@dataclass(frozen=True)
class Skipped:
    """A session that cannot be trained, and why."""

    session_id: str
    code: str
    message: str


@dataclass(frozen=True)
class Prepared:
    windows: tuple[Window, ...]
    tokens: int
    supervised_tokens: int
    supervised_turns: int
    dropped: tuple[Counted, ...]
    changed: tuple[Counted, ...]
    turns: tuple[Turn, ...]
    shared: tuple[Shared, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    whole: int = 0  # tokens of the longest session at most, were it one window
    text: int = 0  # of all sessions that are trained, were each one window
    max_length: int = 0  # of a window
    held_out: HeldOut | None = None
    trained_until: int | None = None  # step of the session whose last part is held out
    arguments: tuple[str, ...] = ()  # words that further passes read under other names
    taken: frozenset[str] = frozenset()  # words that are no names for others
    remarks: tuple[str, ...] = ()


def prepare_windows(
    session: Session,
    tokenizer: "PreTrainedTokenizerBase",
    *,
    max_length: int,
    include_unsuccessful: bool = False,
    reasoning: bool = False,
    train_on: TrainOn = "all",
    elsewhere: Mapping[int, str] | None = None,
    apart: Mapping[int, str] | None = None,
) -> Prepared:
    """Windows of at most `max_length` tokens in which each supervised turn is a target exactly once.

    `elsewhere`: the steps that another session teaches, and which one. `apart`: the steps on the other side of a split,
    and why they are no target here. Raises SessionUnsuccessful, NothingToTrain,
    TemplateUnsupported, BaseModelInvalid.
    """
    elsewhere = elsewhere or {}
    supervised, reasons = supervised_steps(
        session, train_on=train_on, include_unsuccessful=include_unsuccessful, reasoning=reasoning, elsewhere=elsewhere
    )
    reasons |= {index: reason for index, reason in (apart or {}).items() if index in supervised}
    supervised -= frozenset(apart or ())
    dropped, changed = Counter(reasons.values()), Counter[str]()
    shared = shared_with(session, reasons, elsewhere)
    if not supervised:
        others = "".join(f" Session {one.supervised_in} teaches {one.turns} of its turns." for one in shared)
        raise NothingToTrain(
            f"The session {session.session_id} has no agent turn to learn from{named(dropped)}.{others}"
        )
    codec = codec_for(tokenizer, [session.model_dump_json()])
    template = chat_template(tokenizer, reasoning=reasoning, date=started(session))
    traits = traits_of(template)
    template = listing_tools(template, traits)
    talk = written(session, Writer(codec, traits, True, reasoning), template, supervised, changed)
    dropped.update(talk.dropped)
    if not any(unit.supervised for unit in talk.units):
        raise NothingToTrain(f"The session {session.session_id} has no agent turn after its task{named(dropped)}.")
    if session.tools and not traits.tool_list:
        changed["tool_list_as_text"] += 1
    found, cuts, whole = cut(talk, template, traits, codec, max_length)
    changed.update(cuts)
    unseen = {talk.units[index].step for index in found.unseen_edits}
    dropped.update(edit_target_cut=len(unseen), context_left_out=found.left_out)
    learned = [unit.step for unit in talk.units if unit.supervised and unit.step not in unseen]
    if not learned:
        raise NothingToTrain(f"The session {session.session_id} has no agent turn to learn from{named(dropped)}.")
    reasons = dict.fromkeys(unseen, "edit_target_cut") | reasons
    return Prepared(
        windows=found.windows,
        tokens=sum(len(window.input_ids) for window in found.windows),
        supervised_tokens=sum(sum(window.supervised) for window in found.windows),
        supervised_turns=len(learned),
        dropped=counted(dropped),
        changed=counted(changed),
        turns=tuple(turns_of(session, frozenset(learned), supervised, reasons)),
        shared=shared,
        whole=whole,
        text=whole,
        max_length=max_length,
    )


def counted(found: Mapping[str, int]) -> tuple[Counted, ...]:
    return tuple(Counted(reason, count) for reason, count in sorted(found.items()) if count)


def shared_with(session: Session, reasons: Mapping[int, str], elsewhere: Mapping[int, str]) -> tuple[Shared, ...]:
    found = Counter(elsewhere[step] for step, reason in reasons.items() if reason == "shared_turn")
    return tuple(Shared(session.session_id, other, turns) for other, turns in found.items())


def turns_of(
    session: Session, learned: frozenset[int], supervised: frozenset[int], reasons: Mapping[int, str]
) -> Iterator[Turn]:
    for index, step in enumerate(session.steps):
        if step.source == "agent":
            otherwise = "before_task" if index in supervised else "empty_turn"
            reason = None if index in learned else reasons.get(index, otherwise)
            called = f"[{', '.join(call.name for call in step.tool_calls)}]" if step.tool_calls else ""
            yield Turn(session.session_id, index, reason, f"{step.text[:TURN_TEXT]} {called}".strip())


def cut(
    talk: Conversation, template: ChatTemplate, traits: Traits, codec: Codec, max_length: int
) -> tuple[Cut, Counter[str], int]:
    """The windows of a conversation, with long tool outputs shortened only where the whole does not fit one window; and
    how many tokens the whole has."""
    loose = Renderer(template, traits, codec, (), ())
    body = measured(talk.units, loose)
    opening = fitted_head(talk, template=template, traits=traits, codec=codec, max_length=max_length, body=body.tokens)
    budget, whole = max_length - opening.tokens, opening.whole + body.tokens
    sources = sources_of(talk.units)
    cuts = opening.cuts
    if body.tokens > budget:
        mark = skip_tokens(len(talk.units), codec)
        units, shortenings = shortened_outputs(body, budget=budget, mark=mark, codec=codec, sources=sources)
        cuts = cuts + shortenings
        body = measured(units, loose) if shortenings else body
    renderer = Renderer(template, traits, codec, opening.messages, opening.tools)
    found = Builder(renderer, body, max_length, excerpts(talk.units, sources, codec)).windows(budget)
    return found, cuts + found.changes, whole


def written(
    session: Session, writer: Writer, template: ChatTemplate, supervised: frozenset[int], changed: Counter[str]
) -> Conversation:
    """The session in the template's own tool syntax, or as text where the template cannot take the session's calls."""
    calling = [step for step in session.steps if step.tool_calls]
    if takes_calls(session.steps, session.tools, writer.traits):
        talk = conversation(session, writer, supervised)
        try:
            template.render(whole(talk, writer.traits), talk.tools)
        except TemplateUnsupported:
            if not calling:
                raise
        else:
            return talk
    if calling:
        changed["tool_syntax_as_text"] += sum(len(step.tool_calls) for step in calling)
    return conversation(session, Writer(writer.codec, writer.traits, False, writer.reasoning), supervised)


def whole(talk: Conversation, traits: Traits) -> list[Message]:
    return arranged(
        [*head(talk.system, talk.task, traits), *(message for unit in talk.units for message in unit.messages)], traits
    )


def started(session: Session) -> datetime | None:
    try:
        return datetime.fromisoformat(session.started_at) if session.started_at else None
    except ValueError:
        return None


def named(dropped: Mapping[str, int]) -> str:
    found = [f"{one.reason}: {one.count}" for one in counted(dropped)]
    return f" ({', '.join(found)})" if found else ""
