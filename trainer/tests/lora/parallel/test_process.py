import queue

import pytest

from imprint_trainer.errors import OutOfMemory, TrainerError
from imprint_trainer.lora.parallel.messages import Failed
from imprint_trainer.lora.parallel.process import MemberProcess


@pytest.mark.parametrize(("code", "kind"), [("OUT_OF_MEMORY", OutOfMemory), ("NO_SUCH_CODE", TrainerError)])
def test_what_a_member_failed_with_is_raised_here_as_what_it_was(code: str, kind: type[TrainerError]) -> None:
    member = MemberProcess(1, 2, queue.SimpleQueue())
    try:
        with pytest.raises(kind, match=r"^process 2 of 2: memory ran out$"):
            member.raise_failure(Failed(code=code, message="memory ran out"))
    finally:
        member.close()
