import itertools

import pytest

from imprint_trainer.errors import Cancelled
from imprint_trainer.jobs.chat import chat
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.protocol import ChatMessage, ChatSpec


def test_a_cancelled_chat_stops_after_the_token_at_hand(base: LoadedBase) -> None:
    spec = ChatSpec(
        base_model="tiny",
        adapter_path=None,
        messages=[ChatMessage(role="user", content="Please fix it.")],
        max_tokens=400,
        temperature=2,
        seed=1,
    )
    whole = chat(spec, base, lambda: False)
    assert whole["completion_tokens"] > 3
    asked = itertools.count(1)
    with pytest.raises(Cancelled):
        chat(spec, base, lambda: next(asked) == 3)
    assert next(asked) == 4
    assert chat(spec, base, lambda: False) == whole
