"""What each turn costs in tokens, and shorter tool outputs where a turn would not fit a window."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from imprint_trainer.data.codec import Codec
from imprint_trainer.data.messages import Unit
from imprint_trainer.data.plan import Cost, Leads, request_limit
from imprint_trainer.data.render import Piece, Renderer
from imprint_trainer.data.shorten import cut_down, fair_shares
from imprint_trainer.data.sources import Sources, edited_in, places
from imprint_trainer.data.template import Message

FRAME = 10  # tokens that a template puts around a message; windows are counted exactly once they are rendered


@dataclass(frozen=True)
class Measured:
    units: tuple[Unit, ...]
    pieces: tuple[Piece | None, ...]  # None for user turns
    costs: tuple[Cost, ...]

    @property
    def tokens(self) -> int:
        return sum(cost.own + cost.after for cost in self.costs)


def measured(units: Sequence[Unit], renderer: Renderer) -> Measured:
    codec = renderer.codec
    turns = [index for index, unit in enumerate(units) if unit.by_assistant]
    ends = [*turns[1:], len(units)]
    found = {turn: renderer.piece(units[turn : end + 1]) for turn, end in zip(turns, ends, strict=True)}
    written = (text for piece in found.values() if piece for text in (piece.turn[: piece.stop], piece.after or ""))
    codec.expect([*written, *(unit.messages[0]["content"] for unit in units if not unit.by_assistant)])
    costs = [
        Cost(0 if unit.by_assistant else frame_and_words(unit.messages, codec), 0, unit.supervised, unit.request)
        for unit in units
    ]
    for (index, piece), following in zip(found.items(), ends, strict=True):
        unit = units[index]
        own = codec.count(piece.turn[: piece.stop]) if piece else frame_and_words(unit.messages[:1], codec)
        if piece and piece.after is not None:
            after = max(0, codec.count(piece.after) - sum(cost.own for cost in costs[index + 1 : following]))
        else:
            after = frame_and_words(unit.messages[1:], codec)
        costs[index] = replace(costs[index], own=own, after=after)
    return Measured(tuple(units), tuple(found.get(index) for index in range(len(units))), tuple(costs))


def frame_and_words(messages: Sequence[Message], codec: Codec) -> int:
    return sum(codec.count(message["content"]) + FRAME for message in messages)


def shortened_outputs(
    body: Measured, *, budget: int, mark: int, codec: Codec, sources: Sources
) -> tuple[list[Unit], Counter[str]]:
    """Cut what came back from a turn (and later user turns) so that it fits a window with its call and the next answer,
    and with what the window brings along for the turns before it (`mark`, as `slices` takes it).

    At least an eighth of the window is left to it, and to a request as much as windows bring along of one. What later
    turns replace by edits is kept where it fits.
    """
    cuts: Counter[str] = Counter()
    units = list(body.units)
    edited = edited_in(sources)
    leads = Leads(body.costs, budget, mark)
    answer = 0  # tokens of the next assistant turn
    for index in range(len(units) - 1, -1, -1):
        unit, cost = units[index], body.costs[index]
        kept = unit.messages[:1] if unit.by_assistant else ()
        loose = unit.messages[len(kept) :]
        taken = leads.tokens(index, [index]) + (cost.own if kept else 0) + min(answer, budget // 2)
        least = request_limit(budget) + FRAME if unit.request else budget // 8
        allowed = max(budget - taken, least)
        if loose and (cost.after if kept else cost.own) > allowed:
            found = [codec.encode(message["content"]) for message in loose]
            sizes = [len(encoded.ids) for encoded in found]
            inflated = max(cost.after if kept else cost.own, 1) / max(sum(sizes) + FRAME * len(sizes), 1)
            limits = fair_shares(sizes, int(allowed / max(inflated, 1.0)) - FRAME * len(sizes))
            texts = [
                cut_down(message["content"], encoded, limit, codec, places(edited[index], message["content"]))
                for message, encoded, limit in zip(loose, found, limits, strict=True)
            ]
            cut = sum(text != message["content"] for text, message in zip(texts, loose, strict=True))
            if cut:
                cuts["tool_output_shortened" if kept else "user_text_shortened"] += cut
            loose = tuple({**message, "content": text} for message, text in zip(loose, texts, strict=True))
            units[index] = replace(unit, messages=(*kept, *loose))
        if kept:
            answer = cost.own
    return units, cuts
