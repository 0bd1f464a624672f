"""Where the texts that edits replace were shown before, and what to bring along of it (training-data rule 3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from imprint_trainer.data.codec import Codec
from imprint_trainer.data.edits import in_sight, place, said, squashed
from imprint_trainer.data.messages import Unit
from imprint_trainer.data.shorten import Range, joined

AROUND = 4  # lines before and after the replaced ones that an excerpt shows

Sources = Mapping[int, Sequence[tuple[int, str]]]


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
