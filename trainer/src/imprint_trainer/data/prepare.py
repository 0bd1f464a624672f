"""From a canonical session to training windows: the one way, for previews and for trainings."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from imprint_trainer.data.codec import Codec, codec_for
from imprint_trainer.data.head import fitted_head
from imprint_trainer.data.measure import measured, shortened_outputs
from imprint_trainer.data.messages import Conversation, Writer, arranged, conversation, head
from imprint_trainer.data.render import Renderer
from imprint_trainer.data.select import TrainOn, supervised_steps
from imprint_trainer.data.session import Session
from imprint_trainer.data.template import ChatTemplate, Message, chat_template
from imprint_trainer.data.traits import Traits, traits_of
from imprint_trainer.data.windows import Builder, Window
from imprint_trainer.errors import NothingToTrain, TemplateUnsupported

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TURN_TEXT = 200  # characters of a turn that a preview quotes


@dataclass(frozen=True)
class Dropped:
    """What is not trained, or was changed, and how often.

    Turns that are not supervised: `failed`, `weight_zero`, `aborted`, `synthetic`, `duplicate_turn`, `not_selected`.
    Turns that are left out: `empty_turn`, `before_task`, `context_left_out`. Cuts: `task_shortened`,
    `system_shortened`, `tools_shortened`, `tool_output_shortened`, `user_text_shortened`, `answer_split`.
    Changes: `tool_syntax_as_text` (calls), `token_across_role_header` (turns whose first token is no target).
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
class Prepared:
    windows: tuple[Window, ...]
    tokens: int
    supervised_tokens: int
    supervised_turns: int
    dropped: tuple[Dropped, ...]
    turns: tuple[Turn, ...]


def prepare_windows(
    session: Session,
    tokenizer: "PreTrainedTokenizerBase",
    *,
    max_length: int,
    include_unsuccessful: bool = False,
    reasoning: bool = False,
    train_on: TrainOn = "all",
) -> Prepared:
    """Windows of at most `max_length` tokens in which each supervised turn is a target exactly once.

    Raises SessionUnsuccessful, NothingToTrain, TemplateUnsupported, BaseModelInvalid.
    """
    supervised, reasons = supervised_steps(
        session, train_on=train_on, include_unsuccessful=include_unsuccessful, reasoning=reasoning
    )
    dropped = Counter(reasons.values())
    if not supervised:
        raise NothingToTrain(f"The session {session.session_id} has no agent turn to learn from{named(dropped)}.")
    codec = codec_for(tokenizer, [session.model_dump_json()])
    template = chat_template(tokenizer, reasoning=reasoning, date=started(session))
    traits = traits_of(template)
    talk = written(session, Writer(codec, traits, True, reasoning), template, supervised, dropped)
    turns = sum(unit.supervised for unit in talk.units)
    if not turns:
        raise NothingToTrain(f"The session {session.session_id} has no agent turn after its task{named(dropped)}.")
    windows, cuts = cut(talk, template, traits, codec, max_length)
    dropped.update(talk.dropped)
    dropped.update(cuts)
    return Prepared(
        windows=tuple(windows),
        tokens=sum(len(window.input_ids) for window in windows),
        supervised_tokens=sum(sum(window.supervised) for window in windows),
        supervised_turns=turns,
        dropped=tuple(Dropped(reason, count) for reason, count in sorted(dropped.items())),
        turns=tuple(turns_of(session, talk, supervised, reasons)),
    )


def turns_of(
    session: Session, talk: Conversation, supervised: frozenset[int], reasons: Mapping[int, str]
) -> Iterator[Turn]:
    learned = {unit.step for unit in talk.units if unit.supervised}
    for index, step in enumerate(session.steps):
        if step.source == "agent":
            otherwise = "before_task" if index in supervised else "empty_turn"
            reason = None if index in learned else reasons.get(index, otherwise)
            called = f"[{', '.join(call.name for call in step.tool_calls)}]" if step.tool_calls else ""
            yield Turn(session.session_id, index, reason, f"{step.text[:TURN_TEXT]} {called}".strip())


def cut(
    talk: Conversation, template: ChatTemplate, traits: Traits, codec: Codec, max_length: int
) -> tuple[list[Window], Counter[str]]:
    """The windows of a conversation, with long tool outputs shortened only where the whole does not fit one window."""
    loose = Renderer(template, traits, codec, (), ())
    body = measured(talk.units, loose)
    opening = fitted_head(talk, template=template, traits=traits, codec=codec, max_length=max_length, body=body.tokens)
    budget = max_length - opening.tokens
    cuts = opening.cuts
    if body.tokens > budget:
        units, shortenings = shortened_outputs(body, budget=budget, codec=codec)
        cuts = cuts + shortenings
        body = measured(units, loose) if shortenings else body
    renderer = Renderer(template, traits, codec, opening.messages, opening.tools)
    windows, more = Builder(renderer, body, max_length).windows(budget)
    return windows, cuts + more


def written(
    session: Session, writer: Writer, template: ChatTemplate, supervised: frozenset[int], dropped: Counter[str]
) -> Conversation:
    """The session in the template's own tool syntax, or as text where the template cannot take the session's calls."""
    calling = [step for step in session.steps if step.tool_calls]
    beside = any(step.text.strip() for step in calling)
    if writer.traits.calls and (writer.traits.text_with_calls or not beside):
        talk = conversation(session, writer, supervised)
        try:
            template.render(whole(talk, writer.traits), talk.tools)
        except TemplateUnsupported:
            if not calling:
                raise
        else:
            return talk
    if calling:
        dropped["tool_syntax_as_text"] += sum(len(step.tool_calls) for step in calling)
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


def named(dropped: Counter[str]) -> str:
    return f" ({', '.join(f'{reason}: {count}' for reason, count in sorted(dropped.items()))})" if dropped else ""
