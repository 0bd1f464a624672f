"""Conversations as text with the supervised characters marked, by the base model's own chat template.

A turn is supervised from where the model starts to write (after what `add_generation_prompt` adds) up to and including
its end-of-turn token; the newline that some templates put after that token is not. A conversation that is to be
answered becomes the tokens that a training on its recording has before the answer.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from os.path import commonprefix
from typing import TYPE_CHECKING

from imprint_trainer.data.codec import Codec, codec_for
from imprint_trainer.data.messages import Unit, Writer, arranged, head, takes_calls, tool, units_of
from imprint_trainer.data.session import Step, ToolDefinition
from imprint_trainer.data.templates import (
    ANSWER,
    USER,
    ChatTemplate,
    Message,
    Traits,
    chat_template,
    listing_tools,
    traits_of,
)
from imprint_trainer.errors import TemplateUnsupported

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class NotPrefixStableError(Exception):
    """The template writes a turn differently once other turns follow it."""


@dataclass(frozen=True)
class Piece:
    """An assistant turn as the template writes it after a plain question, and what it writes up to the next one."""

    turn: str
    header: int  # characters of `turn` that the model does not write
    stop: int  # characters of `turn` up to and including its end-of-turn token
    kept: int  # characters of that header that stay once something follows: Qwen3 takes an empty thought back
    after: str | None  # what follows that token; None: once something follows, the template writes other words

    @property
    def own(self) -> str:
        """What the model writes."""
        return self.turn[self.header : self.stop]

    def written(self, *, is_last: bool) -> str | None:
        """The turn with what stands between it and the next one, as the template writes it then."""
        if is_last:
            return self.turn
        return None if self.after is None else self.turn[: self.kept] + self.own + self.after

    @property
    def going_on(self) -> "Piece":
        """The same where the template opens no turn: Gemma 4 goes on behind the result of a call."""
        return Piece(self.turn[self.header :], 0, self.stop - self.header, 0, self.after)


@dataclass(frozen=True)
class Asked:
    """A conversation that is to be answered, and what prompts add to it to ask for the answer."""

    before: tuple[Message, ...]
    tools: tuple[Message, ...]
    shown: str
    openings: tuple[str, ...]


@dataclass(frozen=True)
class Rendered:
    text: str  # ends with the last supervised character
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Renderer:
    template: ChatTemplate
    traits: Traits
    codec: Codec
    head: tuple[Message, ...]
    tools: tuple[Message, ...]

    def piece(self, units: Sequence[Unit]) -> Piece | None:
        """What the first of the units adds, an assistant's turn, with what stands between it and the next one. None: no
        prefix to grow."""
        unit, *others = units
        next_turn = next((index for index, other in enumerate(others) if other.by_assistant), len(others))
        rest = [*unit.messages[1:], *(message for other in others[:next_turn] for message in other.messages)]
        following = others[next_turn].messages[0] if next_turn < len(others) else None
        question, message = self._question.shown, unit.messages[0]
        written = self.template.render([USER, message])
        if not written.startswith(question):
            return None
        turn = written[len(question) :]
        begin = self._begin(self._question, written)
        if begin is None:
            return None
        header = begin - len(question)
        stop = self.stop(turn, header, message)
        messages = arranged([USER, message, *rest, *([following] if following else [])], self.traits)
        if following and len(messages) == 3:  # nothing stands between them: what follows is found, and taken off
            answer = self.template.render([USER, following])[len(question) :]
            extended = self.template.render(messages).removesuffix(answer)
        else:
            extended = self.template.render(messages[:-1] if following else messages)
        return Piece(turn, header, stop, *followed(turn, header, stop, extended.removeprefix(question)))

    def incremental(self, units: Sequence[Unit], pieces: Sequence[Piece | None], new: Collection[int]) -> Rendered:
        """A window that supervises the turns at positions `new`; nothing follows its last turn.

        The template must write what stands before the first of them, and then their words, the same in the whole. Each
        step is rendered once, in a small conversation, and found again in the whole, so the cost is linear. What the
        template opens only a last answer with stands before each new one: the model sees it there when it answers.
        Raises NotPrefixStableError.
        """
        messages = self._messages(units)
        turns = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
        position = min(new)
        opening = turns[sum(unit.by_assistant for unit in units[:position])]
        while messages[opening - 1]["role"] == "assistant":  # rendered alone it would be a last answer
            position, opening = position - 1, opening - 1
        full = self.template.render(messages, self.tools)
        cursor = advance(full, 0, self.template.render(messages[:opening], self.tools))
        texts, length = [full[:cursor]], cursor
        spans: list[tuple[int, int]] = []
        for place in range(position, len(units)):
            piece, is_last = pieces[place], place == len(units) - 1
            if not units[place].by_assistant:
                continue
            if piece is None:
                raise NotPrefixStableError
            if not full.startswith(piece.turn[: piece.header if is_last else piece.kept], cursor):
                piece = piece.going_on
            text = piece.written(is_last=is_last)
            cursor = advance(full, cursor, text)
            if place in new:
                spans.append((length + piece.header, length + piece.stop))
                text = piece.turn[: piece.stop] + (piece.after or "")
            texts.append(text or "")
            length += len(texts[-1])
        if cursor != len(full):
            raise NotPrefixStableError
        return Rendered("".join(texts)[: spans[-1][1]], tuple(spans))

    def last_turn(self, units: Sequence[Unit], piece: Piece | None) -> Rendered:
        """A window whose last turn alone is supervised: what the model sees at that point, then its answer."""
        *before, turn = self._messages(units)
        asked = self._asked(before, self.tools)
        full = self.template.render([*before, turn], self.tools)
        start = self._begin(asked, full) if full.startswith(asked.shown) else None
        if start is None:
            # The answer changes how earlier turns are written, which inference never sees, or lacks its own marks.
            if piece is None:
                raise TemplateUnsupported("The base model's chat template rewrites a conversation when it is answered.")
            opening = piece.turn[: piece.header] if any(asked.openings) else ""
            full, start = asked.shown + opening + piece.turn[piece.header :], len(asked.shown + opening)
        stop = self.stop(full, start, turn)
        return Rendered(full[:stop], ((start, stop),))

    def _messages(self, units: Sequence[Unit]) -> list[Message]:
        *earlier, last = units
        middle = [message for unit in earlier for message in unit.messages]
        return arranged([*self.head, *middle, last.messages[0]], self.traits)

    def stop(self, written: str, header: int, message: Message) -> int:
        """Where the turn's end-of-turn token ends. Raises TemplateUnsupported when words or that token are missing."""
        ending = self._ending.search(written, header)
        if not ending:
            raise TemplateUnsupported(
                "The base model's chat template writes no end-of-turn token after the assistant's words, "
                "so the model would never learn to stop."
            )
        own = written[header : ending.end(1)]
        wanted = [message["content"].strip(), *(one["function"]["name"] for one in message.get("tool_calls", ()))]
        if not all(word in own for word in wanted):
            raise TemplateUnsupported("The base model's chat template leaves out or rewrites what the assistant says.")
        return ending.end(1)

    def _asked(self, before: Sequence[Message], tools: Sequence[Message]) -> Asked:
        prompts = self.template.prompts(before, tools)
        shown = commonprefix([self.template.render(before, tools), *prompts])
        return Asked(tuple(before), tuple(tools), shown, tuple(prompt[len(shown) :] for prompt in prompts))

    def _begin(self, asked: Asked, full: str) -> int | None:
        """Where the model's own words begin: behind a prompt that asks for them, else behind what the template writes
        ahead of every answer there. None where this one begins otherwise."""
        place = len(asked.shown)
        fitting = [place + len(one) for one in asked.openings if one and full.startswith(one, place)]
        if fitting:
            return max(fitting)
        answers = [{**ANSWER, "content": word} for word in ("numbat", "QUOLL")]  # they share no character
        ahead = commonprefix([self.template.render([*asked.before, answer], asked.tools) for answer in answers])
        return len(ahead) if full.startswith(ahead) else None

    @cached_property
    def _question(self) -> Asked:
        return self._asked([USER], ())

    @cached_property
    def _ending(self) -> re.Pattern[str]:
        """The control tokens that end a turn; what follows them (a newline, phi3's end of text) is for the reader."""
        tokens = self.codec.tokenizer.convert_ids_to_tokens(sorted(self.codec.control_ids))
        literals = sorted((token for token in tokens if token), key=len, reverse=True)
        control = "|".join(re.escape(token) for token in literals) or "(?!)"
        return re.compile(rf"((?:{control})+)(?:\s|{control})*\Z")


def followed(turn: str, header: int, stop: int, extended: str) -> tuple[int, str | None]:
    """How much of a turn's header is kept once something follows, and what stands after its words then; `extended` is
    the turn as the template writes it there. No text when the words or their end are written differently."""
    own = turn[header:stop]
    kept = extended.find(own)
    if kept < 0 or not turn[:header].startswith(extended[:kept]):
        return 0, None
    return kept, extended[kept + len(own) :]


def advance(full: str, cursor: int, step: str | None) -> int:
    """The cursor in `full` behind one more step. Raises NotPrefixStableError when it goes on differently."""
    if step is None or not full.startswith(step, cursor):
        raise NotPrefixStableError
    return cursor + len(step)


def rendered_conversation(
    steps: Sequence[Step],
    tools: Sequence[ToolDefinition],
    tokenizer: "PreTrainedTokenizerBase",
    *,
    traits: Traits | None = None,
    reasoning: bool = False,
    date: datetime | None = None,
    add_generation_prompt: bool = True,
) -> tuple[int, ...]:
    """The prompt, as tokens, of the answer that comes after `steps`: what windows show before it, where nothing is cut.

    `date`: today's, for templates that ask for it. Raises TemplateUnsupported, BaseModelInvalid.
    """
    plain = chat_template(tokenizer, reasoning=reasoning, date=date)
    traits = traits or traits_of(plain)
    template = listing_tools(plain, traits)
    codec = codec_for(tokenizer, [text.model_dump_json() for text in (*steps, *tools)])
    shown = tuple(tool(codec, one) for one in tools)

    def text(*, native: bool) -> str:
        messages = messages_of(steps, Writer(codec, traits, native, reasoning))
        return template.render(arranged(messages, traits), shown, add_generation_prompt=add_generation_prompt)

    try:
        prompt = text(native=takes_calls(steps, tools, traits))
    except TemplateUnsupported:
        if not any(step.tool_calls for step in steps):
            raise
        prompt = text(native=False)
    return codec.encode(prompt).ids


def messages_of(steps: Sequence[Step], writer: Writer) -> list[Message]:
    """Head and turns. What an assistant says ahead of the task, which trainings leave out, stays."""
    spoken = next((index for index, step in enumerate(steps) if step.source != "system"), len(steps))
    system = writer.codec.hide("\n\n".join(step.text for step in steps[:spoken] if step.text.strip()))
    asked = spoken < len(steps) and steps[spoken].source == "user"
    opening: list[Message] = []
    if asked:
        opening = head(system, writer.codec.hide(steps[spoken].text), writer.traits)
    elif system:
        with_role = writer.traits.system and spoken < len(steps)  # alone it is the task
        opening = [{"role": "system" if with_role else "user", "content": system}]
    units, _ = units_of(steps, spoken + asked, writer, frozenset())
    return [*opening, *(message for unit in units for message in unit.messages)]
