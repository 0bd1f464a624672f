"""Windows of tokens with a mask, from the measured turns of a session (training-data rule 3)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from imprint_trainer.data.codec import Codec, Encoded
from imprint_trainer.data.measure import Measured
from imprint_trainer.data.plan import Slice, slices
from imprint_trainer.data.render import NotPrefixStableError, Rendered, Renderer
from imprint_trainer.errors import TemplateUnsupported


@dataclass(frozen=True)
class Window:
    """Tokens of one training example; `supervised[i]`: token i is a target of the loss."""

    input_ids: tuple[int, ...]
    supervised: tuple[bool, ...]


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

    def windows(self, budget: int) -> tuple[list[Window], Counter[str]]:
        """Windows whose turns fit `budget` tokens beside the head; turns share a window where the template allows it.

        Raises TemplateUnsupported.
        """
        one_each = False
        while True:
            plan = slices(self.body.costs, budget=budget, one_each=one_each)
            cuts = left_out(plan, len(self.body.units))
            try:
                found = [window for piece in plan for window in self._windows(piece, one_each, cuts)]
            except NotPrefixStableError:
                one_each = True
            except WindowTooLongError as error:
                budget -= error.excess
            else:
                return found, cuts

    def _windows(self, piece: Slice, one_each: bool, cuts: Counter[str]) -> list[Window]:
        units = self.body.units[piece.start : piece.stop]
        if piece.over_long:
            return self._split(piece, cuts)
        if one_each:
            rendered = self.renderer.last_turn(units, self.body.pieces[piece.stop - 1])
        else:
            pieces = self.body.pieces[piece.start : piece.stop]
            rendered = self.renderer.growing(units, pieces, [index - piece.start for index in piece.new])
        ids, mask = masked(rendered, self.renderer.codec, cuts)
        if len(ids.ids) > self.max_length:
            raise WindowTooLongError(len(ids.ids) - self.max_length)
        return [Window(ids.ids, mask)]

    def _split(self, piece: Slice, cuts: Counter[str]) -> list[Window]:
        """An answer longer than a window, in parts: the first one after its context, the others after the task and a
        quarter window of the part before. Only the last part ends the turn."""
        codec = self.renderer.codec
        last = piece.stop - 1
        units = self.body.units[piece.start : piece.stop]
        encoded, mask = masked(self.renderer.last_turn(units, self.body.pieces[last]), codec, cuts)
        begin = mask.index(True)
        if len(encoded.ids) <= self.max_length:
            return [Window(encoded.ids, mask)]
        bare, bare_mask = masked(
            self.renderer.last_turn(self.body.units[last : last + 1], self.body.pieces[last]), codec, Counter()
        )
        prompt = bare.ids[: bare_mask.index(True)]
        room = self.max_length - len(prompt)
        end = whole_character(encoded, self.max_length) if begin < self.max_length - room // 4 else begin
        found = [Window(encoded.ids[:end], mask[:end])] if end > begin else []
        while end < len(encoded.ids):
            overlap = min(room // 4, end - begin)
            stop = min(end - overlap + room, len(encoded.ids))
            stop = whole_character(encoded, stop) if stop < len(encoded.ids) else stop
            context = (*prompt, *encoded.ids[end - overlap : end])
            found.append(Window((*context, *encoded.ids[end:stop]), (False,) * len(context) + (True,) * (stop - end)))
            end = stop
        cuts["answer_split"] += 1
        return found


def masked(rendered: Rendered, codec: Codec, cuts: Counter[str]) -> tuple[Encoded, tuple[bool, ...]]:
    """Tokens of the whole text, tokenized once, and which of them are targets.

    A token is a target when its first character is supervised: one that begins in a role header and reaches into the
    answer is not what the model would write after that header. Raises TemplateUnsupported when a turn has no target,
    or its last one does not end the turn.
    """
    encoded = codec.encode(rendered.text)
    mask = [False] * len(encoded.ids)
    for start, stop in rendered.spans:
        first, last = bisect_left(encoded.starts, start), bisect_left(encoded.starts, stop)
        if first == last or encoded.ids[last - 1] not in codec.control_ids:
            raise TemplateUnsupported("The tokenizer merges the end-of-turn token with the text before it.")
        if first and encoded.ends[first - 1] > start:
            cuts["token_across_role_header"] += 1
        mask[first:last] = [True] * (last - first)
    return encoded, tuple(mask)


def whole_character(encoded: Encoded, index: int) -> int:
    """The nearest cut at or before token `index` that does not tear a character of several tokens."""
    while index > 1 and encoded.starts[index] < encoded.ends[index - 1]:
        index -= 1
    return index


def left_out(plan: Sequence[Slice], units: int) -> Counter[str]:
    """Turns before the last supervised one that fit no window as context."""
    kept = {index for piece in plan for index in range(piece.start, piece.stop)}
    end = max((piece.stop for piece in plan), default=0)
    missing = sum(index not in kept for index in range(min(end, units)))
    return Counter(context_left_out=missing) if missing else Counter()
