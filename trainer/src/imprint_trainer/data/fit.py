"""Makes a session fit its windows: what the head and each turn cost, and how what is too long is shortened.

Texts keep their beginning, their end, and what later edits replace of their middle (training-data rule 3).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from imprint_trainer.data.codec import Codec, Encoded
from imprint_trainer.data.edits import in_sight, place, said, squashed
from imprint_trainer.data.messages import Conversation, Unit, head
from imprint_trainer.data.plan import Context, Cost, request_limit
from imprint_trainer.data.render import Piece, Renderer
from imprint_trainer.data.templates import USER, ChatTemplate, Message, Traits
from imprint_trainer.errors import NothingToTrain

Range = tuple[int, int]  # characters [start, end) of a text

HEAD_SHARE = 4  # every window repeats the head: at most this part of it
TOOLS_SHARE = 8  # of that, to the list of tools
SMALLEST_TASK = 24  # tokens: less says nothing
SMALLEST_ROOM = 16  # tokens that turns need beside the head
AROUND = 4  # lines before and after the replaced ones that an excerpt shows
Sources = Mapping[int, Sequence[tuple[int, str]]]
FRAME = 10  # tokens that a template puts around a message; windows are counted exactly once they are rendered


def shortened(text: str, *, tokens: int, codec: Codec, keep: Sequence[Range] = ()) -> str:
    """The text cut to at most `tokens` tokens, with markers that say how many characters are gone.

    It loses its middle but for the stretches `keep`; of those the last go first where they do not fit. When not even
    the marker fits, the marker alone is returned.
    """
    return text if codec.count(text) <= tokens else cut_down(text, codec.encode(text), tokens, codec, keep)


def cut_down(text: str, encoded: Encoded, tokens: int, codec: Codec, keep: Sequence[Range]) -> str:
    """`shortened`, for a text that is encoded already."""
    if len(encoded.ids) <= tokens:
        return text
    for count in range(len(keep), -1, -1):
        found = ends_and(keep[:count], text, encoded, tokens, codec)
        if found is not None:
            return found
    return joined([], text, codec)


def ends_and(keep: Sequence[Range], text: str, encoded: Encoded, tokens: int, codec: Codec) -> str | None:
    """As much of the text's beginning and end as fits beside `keep`; None when nothing does."""
    length = len(encoded.ids)
    ends = tokens - codec.count(joined(keep, text, codec))
    while ends > 0:
        first, last = ends - ends // 2, ends // 2
        tail = encoded.starts[length - last] if last else len(text)
        candidate = joined([(0, encoded.ends[first - 1]), *keep, (tail, len(text))], text, codec)
        excess = codec.count(candidate) - tokens
        if excess <= 0:
            return candidate
        ends -= excess
    return None


def joined(ranges: Sequence[Range], text: str, codec: Codec) -> str:
    """The stretches of a text, with a marker for each gap."""
    parts: list[str] = []
    reached = 0
    for start, end in [*sorted(ranges), (len(text), len(text))]:
        if start > reached:
            parts.append(marker(len(codec.reveal(text[reached:start]))))
        parts.append(text[max(start, reached) : end])
        reached = max(reached, end)
    return "".join(parts)


def marker(characters: int) -> str:
    return f"\n[... {characters} characters cut ...]\n"


def fair_shares(sizes: list[int], total: int) -> list[int]:
    """A limit for each size so that they fit `total` together: small ones keep all, large ones share what is left."""
    shares = [0] * len(sizes)
    left = max(total, 0)
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    for rank, index in enumerate(order):
        shares[index] = min(sizes[index], left // (len(order) - rank))
        left -= shares[index]
    return shares


@dataclass(frozen=True)
class Head:
    messages: tuple[Message, ...]
    tools: tuple[Message, ...]
    tokens: int
    whole: int  # tokens that it would have uncut
    cuts: Counter[str]


def fitted_head(
    conversation: Conversation, *, template: ChatTemplate, traits: Traits, codec: Codec, max_length: int, body: int
) -> Head:
    """At most a quarter of a window, or all that a session of `body` tokens leaves: then the tool list is cut down to
    the tools that were called, then to their names, then left out (over an eighth), and long texts lose their middle.

    Raises NothingToTrain when max_length leaves no room for an answer.
    """

    def length(messages: Sequence[Message], tools: Sequence[Message]) -> int:
        return codec.count(template.render(messages, tools))

    cuts: Counter[str] = Counter()
    system, task = conversation.system, conversation.task
    sizes = [codec.count(task), codec.count(system)]
    spare = max_length - body
    tools = next(
        tools
        for tools in tool_lists(conversation)
        if not tools or length([USER], tools) <= max(max_length // TOOLS_SHARE, spare - sum(sizes))
    )
    whole = length(head(system, task, traits), conversation.tools)
    if tools != conversation.tools:
        cuts["tools_shortened"] += 1
    frame = length(head("quokka" if system else "", "quokka", traits), tools)
    room = max(max(max_length // HEAD_SHARE, spare) - frame, SMALLEST_TASK)
    if sum(sizes) > room:
        limits = fair_shares(sizes, room)
        if sizes[0] > limits[0]:
            task = shortened(task, tokens=limits[0], codec=codec)
            cuts["task_shortened"] += 1
        if sizes[1] > limits[1]:
            system = shortened(system, tokens=limits[1], codec=codec)
            cuts["system_shortened"] += 1
    messages = head(system, task, traits)
    tokens = length(messages, tools)
    refuse_narrow(max_length, tokens, "the task")
    return Head(tuple(messages), tools, tokens, whole, cuts)


def refuse_narrow(max_length: int, taken: int, what: str) -> None:
    """Raises NothingToTrain where `taken` tokens of each window leave no room for turns."""
    if max_length - taken < SMALLEST_ROOM:
        raise NothingToTrain(
            f"max_length {max_length} leaves no room for an answer beside {what}: "
            f"raise it to {2 * (taken + SMALLEST_ROOM)} or more."
        )


def tool_lists(conversation: Conversation) -> list[tuple[Message, ...]]:
    """The tool list in shorter and shorter forms."""
    called = {name for unit in conversation.units for name in unit.called}
    used = tuple(tool for tool in conversation.tools if tool["function"]["name"] in called)
    bare = tuple({**tool, "function": named_only(tool["function"]["name"])} for tool in used)
    return [conversation.tools, used, bare, ()]


def named_only(name: str) -> Message:
    return {"name": name, "description": "", "parameters": {"type": "object", "properties": {}}}


def sources_of(units: Sequence[Unit]) -> Sources:
    """For each unit that replaces texts, the last earlier unit that shows each of them, and the text.

    A text that no single unit shows is left out.
    """
    if not any(unit.targets for unit in units):
        return {}
    words = ["".join(squashed(said(message)) for message in unit.messages) for unit in units]
    found: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for index, unit in enumerate(units):
        for target in unit.targets:
            shown = next((before for before in range(index - 1, -1, -1) if in_sight(target, words[before])), None)
            if shown is not None:
                found[index].append((shown, target))
    return found


def edited_in(sources: Sources) -> defaultdict[int, list[str]]:
    """The texts in each unit that later ones replace."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for texts in sources.values():
        for shown, target in texts:
            found[shown].append(target)
    return found


def places(targets: Iterable[str], text: str) -> list[Range]:
    return [found for target in targets if (found := place(target, text))]


def excerpts(units: Sequence[Unit], sources: Sources, codec: Codec) -> dict[int, str]:
    """For each unit that replaces texts, those texts and the lines around them, as earlier units show them."""
    return {
        index: "\n".join(
            excerpt(units[shown], [target for where, target in texts if where == shown], codec)
            for shown in sorted({where for where, _ in texts})
        )
        for index, texts in sources.items()
    }


def excerpt(unit: Unit, targets: Sequence[str], codec: Codec) -> str:
    for message in unit.messages:
        text = message["content"]
        found = places(targets, text)
        if len(found) == len(targets):
            return joined([widened(one, text) for one in found], text, codec).strip("\n")
    return "\n".join(targets)  # they stand in the arguments of a call


def widened(found: Range, text: str) -> Range:
    """Some whole lines more on both sides."""
    start, end = found
    for _ in range(AROUND):
        start = text.rfind("\n", 0, max(start - 1, 0)) + 1
        end = text.find("\n", end) + 1 or len(text)
    return start, end


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
    context = Context(body.costs, budget, mark)
    answer = 0  # tokens of the next assistant turn
    for index in range(len(units) - 1, -1, -1):
        unit, cost = units[index], body.costs[index]
        kept = unit.messages[:1] if unit.by_assistant else ()
        loose = unit.messages[len(kept) :]
        taken = context.tokens(index, [index]) + (cost.own if kept else 0) + min(answer, budget // 2)
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
