"""The base model with what an adapter was trained on before each window: what retrieval would give."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session
from imprint_trainer.data.sessions import UNTRAINABLE
from imprint_trainer.data.windows import Lesson, Window

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MOST = 2048  # tokens that are put before a window


def text_before(
    trained: Sequence[Session], tokenizer: "PreTrainedTokenizerBase", *, max_length: int, reasoning: bool
) -> tuple[int, ...]:
    """The newest tokens of the sessions (oldest first) as their windows of `max_length` tokens hold them, at most MOST.

    Sessions that cannot be rendered give none.
    """
    found: tuple[int, ...] = ()
    for session in reversed(trained):
        try:
            prepared = prepare_windows(
                session, tokenizer, max_length=max_length, include_unsuccessful=True, reasoning=reasoning
            )
        except UNTRAINABLE:
            continue
        found = (*(token for window in prepared.windows for token in window.input_ids), *found)
        if len(found) >= MOST:
            break
    return found[-MOST:]


def with_text_before(window: Window, text: Sequence[int], reach: int) -> Window:
    """The window behind as much of the text's end as the model's context (`reach` tokens) has room for."""
    room = min(max(0, reach - len(window.input_ids)), len(text))
    before = tuple(text[len(text) - room :])
    return Window(
        (*before, *window.input_ids),
        (*(False,) * (room + 1), *window.supervised[1:]),  # the first token of a window is no target
        tuple(Lesson(lesson.step, lesson.start + room) for lesson in window.lessons),
    )
