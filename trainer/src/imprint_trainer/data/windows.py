"""Windows of tokens with a mask, from the measured turns of a session (training-data rule 3)."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from imprint_trainer.data.codec import Codec, Encoded
from imprint_trainer.data.edits import in_sight, said, squashed
from imprint_trainer.data.fit import FRAME, Measured, fair_shares, refuse_narrow, shortened, sources_of
from imprint_trainer.data.messages import Unit
from imprint_trainer.data.plan import Context, Cost, Slice, request_limit, slices
from imprint_trainer.data.render import NotPrefixStableError, Rendered, Renderer
from imprint_trainer.data.templates import Message
from imprint_trainer.errors import TemplateUnsupported

EXCERPT = "[... from an earlier turn ...]\n"

# What redaction writes in place of a secret; templates may escape the brackets as JSON for HTML does.
SECRET = re.compile(r"(?:<|\\u003c)SECRET:[a-z0-9-]+(?:>|\\u003e)")


@dataclass(frozen=True)
class Answer:
    """An answer of a window: which step of the session it is, and the token where the model begins to write it."""

    step: int
    start: int


@dataclass(frozen=True)
class Window:
    """Tokens of one training example; `supervised[i]`: token i is a target of the loss.

    `answers` are those it teaches, in order; of one that is split, the part that is new here.
    """

    input_ids: tuple[int, ...]
    supervised: tuple[bool, ...]
    answers: tuple[Answer, ...] = ()

    @property
    def answer_spans(self) -> Iterator[tuple[int, int, int]]:
        """Of each answer its step, its first token and its end: the next one's first, or the window's end."""
        ends = [*(answer.start for answer in self.answers[1:]), len(self.input_ids)]
        return ((answer.step, answer.start, end) for answer, end in zip(self.answers, ends, strict=False))

    @property
    def supervised_count(self) -> int:
        """Targets of the loss; nothing predicts the first token."""
        return sum(self.supervised[1:])

    @property
    def targets(self) -> list[int]:
        """Their indices."""
        return [index for index, supervised in enumerate(self.supervised) if supervised and index > 0]

    def with_targets(self, targets: Collection[int]) -> "Window":
        """The same tokens, with these indices as targets."""
        return replace(self, supervised=tuple(index in targets for index in range(len(self.supervised))))


def longest(windows: Sequence[Window]) -> int:
    """Tokens of the longest window."""
    return max(len(window.input_ids) for window in windows)


@dataclass(frozen=True)
class Cut:
    """The windows of a session, what was changed for them, and the units that are not in them."""

    windows: tuple[Window, ...]
    changes: Counter[str]
    unseen_edits: frozenset[int]  # edits whose target does not stand in their window: context, not supervised
    left_out: int  # units before the last answer that stand in no window


@dataclass(frozen=True)
class Tokens:
    """A rendered window: its tokens, which of them are targets, and the token at which each answer begins."""

    encoded: Encoded
    mask: tuple[bool, ...]
    starts: tuple[int, ...]


Made = tuple[Sequence[Window], Counter[str]]  # and what was changed for them


class WindowTooLongError(Exception):
    """A rendered window has more tokens than its turns were measured to have."""

    def __init__(self, excess: int) -> None:
        super().__init__(excess)
        self.excess = excess


@dataclass(frozen=True)
class Builder:
    renderer: Renderer
    body: Measured
    max_length: int
    excerpts: Mapping[int, str]  # what windows bring along of the texts that a unit replaces

    def windows(self, budget: int) -> Cut:
        """Windows whose turns fit `budget` tokens beside the head; turns share a window where the template allows it.

        Raises TemplateUnsupported, and NothingToTrain when no room is left for turns.
        """
        borders: frozenset[int] = frozenset()
        unseen_edits: frozenset[int] = frozenset()
        costs = self._costs()
        mark = skip_tokens(len(costs), self.renderer.codec)
        made: dict[Slice, Made | None] = {}  # a new plan repeats most slices
        while True:
            plan = slices(costs, budget=budget, mark=mark, borders=borders)
            widest = max((piece.lead for piece in plan), default=0)
            refuse_narrow(self.max_length, self.max_length - budget + widest, "the task and the latest request")
            steps = {self.body.units[index].step for piece in plan for index in self._unseen_edits(piece, budget)}
            unseen = frozenset(
                i for i, cost in enumerate(costs) if cost.supervised and self.body.units[i].step in steps
            )
            if unseen:
                unseen_edits |= unseen
                costs = tuple(replace(cost, supervised=False) if i in unseen else cost for i, cost in enumerate(costs))
                continue
            try:
                made |= {piece: self._made(piece, budget) for piece in plan if piece not in made}
            except WindowTooLongError as error:
                budget -= error.excess
                made = {}
                continue
            rewritten = [piece for piece in plan if made[piece] is None]
            if not rewritten:
                found = [one for piece in plan if (one := made[piece])]
                windows = tuple(window for windows, _ in found for window in windows)
                changes = sum((changes for _, changes in found), Counter[str]())
                return Cut(windows, changes, unseen_edits, left_out(plan, len(costs)))
            borders |= {index for piece in rewritten for index in self._parts(piece)}

    def _made(self, piece: Slice, budget: int) -> Made | None:
        """The windows of a slice, and what was changed for them; None when its answers cannot share one."""
        changes: Counter[str] = Counter()
        try:
            return self._windows(piece, budget, changes), changes
        except NotPrefixStableError:
            return None

    def _parts(self, piece: Slice) -> list[int]:
        """Where to part the answers that cannot share a window: those of different requests, else all of them."""
        asked = [index for index in range(piece.start, piece.stop) if not self.body.units[index].by_assistant]
        found = [after for before, after in pairwise(piece.new) if any(before < index < after for index in asked)]
        return found or list(piece.new[1:])

    def _costs(self) -> tuple[Cost, ...]:
        """The costs of the units, with where the texts that they replace are shown."""
        codec, sources = self.renderer.codec, sources_of(self.body.units)
        costs = list(self.body.costs)
        for index, excerpt in self.excerpts.items():
            whole = len(sources.get(index, ())) == len(self.body.units[index].targets)
            needs = min(shown for shown, _ in sources[index]) if whole else -1
            costs[index] = replace(costs[index], needs=needs, excerpt=codec.count(EXCERPT + excerpt))
        return tuple(costs)

    def _unseen_edits(self, piece: Slice, budget: int) -> list[int]:
        """The new turns of a window that replace text which does not stand before them."""
        edits = [index for index in piece.new if self.body.units[index].targets]
        if not edits or piece.over_long:  # the later parts of a split answer stand without its context
            return edits
        opening = [*self.renderer.head, *(message for unit in self._lead(piece, budget) for message in unit.messages)]
        seen = "".join(squashed(said(message)) for message in opening)
        found = []
        for index, unit in enumerate(self._units(piece), piece.start):
            if index in edits and not all(in_sight(target, seen) for target in unit.targets):
                found.append(index)
            seen += "".join(squashed(said(message)) for message in unit.messages)
        return found

    def _lead(self, piece: Slice, budget: int, changes: Counter[str] | None = None) -> list[Unit]:
        """What stands for the turns before a window: the request that it answers, a mark that turns are skipped, and an
        excerpt of what it replaces."""
        changes = Counter() if changes is None else changes
        parts = [skipped(piece.start - (piece.request is not None))] if piece.start else []
        if piece.request is not None:
            asked = self.body.units[piece.request].messages[0]["content"]
            text = shortened(asked, tokens=request_limit(budget), codec=self.renderer.codec)
            changes["request_shortened"] += text != asked
            # The mark stands where the turns are missing.
            parts.insert(1 if piece.request == piece.start - 1 else 0, text)
        parts += [EXCERPT + text for text in dict.fromkeys(self.excerpts[index] for index in piece.excerpts)]
        changes["edit_target_excerpted"] += bool(piece.excerpts)
        message = {"role": "user", "content": "\n\n".join(parts)}
        return [Unit(self.body.units[0].step, (message,), False)] if parts else []

    def _units(self, piece: Slice) -> list[Unit]:
        """The turns of a window; of the first one no more of what came back than fits."""
        units = list(self.body.units[piece.start : piece.stop])
        if piece.output is not None:
            call, *outputs = units[0].messages
            units[0] = replace(units[0], messages=(call, *fitted(outputs, piece.output, self.renderer.codec)))
        return units

    def _windows(self, piece: Slice, budget: int, changes: Counter[str]) -> list[Window]:
        if piece.over_long:
            return self._split(piece, budget, changes)
        lead = self._lead(piece, budget, changes)
        units = [*lead, *self._units(piece)]
        changes["context_shortened"] += piece.output is not None
        pieces = [*(None for _ in lead), *self.body.pieces[piece.start : piece.stop]]
        new = [index - piece.start + len(lead) for index in piece.new]
        try:
            rendered = self.renderer.incremental(units, pieces, new)
        except NotPrefixStableError:
            if len(new) > 1:
                raise
            rendered = self.renderer.last_turn(units, pieces[-1])
        tokens = tokenized(rendered, self.renderer.codec, changes)
        ids = tokens.encoded.ids
        if len(ids) > self.max_length:
            raise WindowTooLongError(len(ids) - self.max_length)
        steps = [self.body.units[index].step for index in piece.new]
        answers = tuple(Answer(step, start) for step, start in zip(steps, tokens.starts, strict=True))
        return [Window(ids, tokens.mask, answers)]

    def _split(self, piece: Slice, budget: int, changes: Counter[str]) -> list[Window]:
        """An answer longer than a window, in parts: the first one after its context, the others after the task, the
        request and a quarter window of the part before. Only the last part ends the turn."""
        codec = self.renderer.codec
        last = piece.stop - 1
        answer = self.body.units[last]
        units = [*self._lead(piece, budget, changes), *self.body.units[piece.start : piece.stop]]
        tokens = tokenized(self.renderer.last_turn(units, self.body.pieces[last]), codec, changes)
        encoded, mask, (begin,) = tokens.encoded, tokens.mask, tokens.starts
        if len(encoded.ids) <= self.max_length:
            return [Window(encoded.ids, mask, (Answer(answer.step, begin),))]
        asked = Context(self.body.costs, budget, 0).request(last, last)
        alone = [*self._lead(replace(piece, start=last, request=asked, excerpts=()), budget), answer]
        bare = tokenized(self.renderer.last_turn(alone, self.body.pieces[last]), codec, Counter())
        prompt = bare.encoded.ids[: bare.starts[0]]
        room = self.max_length - len(prompt)
        end = whole_character(encoded, self.max_length) if begin < self.max_length - room // 4 else begin
        found = [Window(encoded.ids[:end], mask[:end], (Answer(answer.step, begin),))] if end > begin else []
        while end < len(encoded.ids):
            overlap = min(room // 4, end - begin)
            stop = min(end - overlap + room, len(encoded.ids))
            stop = whole_character(encoded, stop) if stop < len(encoded.ids) else stop
            context = (*prompt, *encoded.ids[end - overlap : end])
            targets = ((False,) * len(context)) + mask[end:stop]
            found.append(Window((*context, *encoded.ids[end:stop]), targets, (Answer(answer.step, len(context)),)))
            end = stop
        changes["answer_split"] += 1
        return [window for window in found if any(window.supervised)]


def fitted(messages: Sequence[Message], tokens: int, codec: Codec) -> list[Message]:
    """Messages cut so that they fit `tokens` together, what a template puts around them included."""
    limits = fair_shares([codec.count(message["content"]) for message in messages], tokens - FRAME * len(messages))
    return [
        {**message, "content": shortened(message["content"], tokens=limit, codec=codec)}
        for message, limit in zip(messages, limits, strict=True)
    ]


def skipped(turns: int) -> str:
    return f"[... {turns} {'turn' if turns == 1 else 'turns'} left out ...]"


def skip_tokens(turns: int, codec: Codec) -> int:
    """Tokens of the longest mark in a session of so many turns."""
    return codec.count(skipped(turns)) + FRAME


def tokenized(rendered: Rendered, codec: Codec, changes: Counter[str]) -> Tokens:
    """Tokens of the whole text, tokenized once, and which of them are targets.

    A token is a target when its first character is supervised: one that begins in a role header and reaches into the
    answer is not what the model would write after that header. What stands for a secret is never a target. Raises
    TemplateUnsupported when a turn has no target, or its last one does not end the turn.
    """
    encoded = codec.encode(rendered.text)
    mask = [False] * len(encoded.ids)
    starts = []
    for start, stop in rendered.spans:
        first, last = encoded.first_from(start), encoded.first_from(stop)
        if first == last or encoded.ids[last - 1] not in codec.control_ids:
            raise TemplateUnsupported("The tokenizer merges the end-of-turn token with the text before it.")
        if first and encoded.ends[first - 1] > start:
            changes["token_across_role_header"] += 1
        mask[first:last] = [True] * (last - first)
        starts.append(first)
        for secret in SECRET.finditer(rendered.text, start, stop):
            held = slice(bisect_right(encoded.ends, secret.start()), encoded.first_from(secret.end()))
            mask[held] = [False] * (held.stop - held.start)
            changes["secret_not_supervised"] += 1
    return Tokens(encoded, tuple(mask), tuple(starts))


def whole_character(encoded: Encoded, index: int) -> int:
    """The nearest cut at or before token `index` that does not tear a character of several tokens."""
    while index > 1 and encoded.starts[index] < encoded.ends[index - 1]:
        index -= 1
    return index


def left_out(plan: Sequence[Slice], units: int) -> int:
    """How many units before the last supervised one stand in no window."""
    kept = {index for piece in plan for index in range(piece.start, piece.stop)}
    kept |= {piece.request for piece in plan if piece.request is not None}
    end = max((piece.stop for piece in plan), default=0)
    return sum(index not in kept for index in range(min(end, units)))
