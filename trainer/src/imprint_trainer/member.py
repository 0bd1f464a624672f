"""`python -m imprint_trainer member`: a process that a training starts to share its steps (lora/parallel).

It ends when its stdin does: with the training, whatever became of it.
"""

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Sequence

from imprint_trainer.channel import seize_stdout
from imprint_trainer.intake import TooLong, read_lines
from imprint_trainer.jobs.worker import import_libraries
from imprint_trainer.lora.parallel.messages import Answer, Failed, Hold, Order, Setup, orders
from imprint_trainer.serve import detail

MAX_LINE_BYTES = 2**32  # the windows of a training, from the process that started this one


def main(_: Sequence[str]) -> int:
    channel = seize_stdout(on_closed=lambda: os._exit(0))
    for number in (signal.SIGTERM, signal.SIGINT):
        # A group is signalled as a whole. The first process has to write a checkpoint then, and ends this one.
        signal.signal(number, signal.SIG_IGN)
    told: queue.SimpleQueue[Order] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(told,), name="orders", daemon=True).start()

    def answer(message: Answer) -> None:
        channel.send(message.model_dump())

    try:
        _take_part(told, answer)
    except Exception as error:
        failed = detail(error)
        answer(Failed(code=failed["code"], message=failed["message"]))
    sys.stderr.flush()
    os._exit(1)  # the libraries' threads have nothing to tidy up


def _take_part(told: "queue.SimpleQueue[Order]", answer: Callable[[Answer], None]) -> None:
    import_libraries()
    from imprint_trainer.lora.failures import machine_failures
    from imprint_trainer.lora.parallel import holder, member

    first = told.get()
    with machine_failures():
        if isinstance(first, Hold):
            holder.hold(first, next_order=told.get, answer=answer)
        assert isinstance(first, Setup)
        member.take_part(first, next_order=told.get, answer=answer)


def _listen(told: "queue.SimpleQueue[Order]") -> None:
    try:
        for line in read_lines(0, max_bytes=MAX_LINE_BYTES):
            assert not isinstance(line, TooLong)
            told.put(orders.validate_json(line))
    finally:
        os._exit(0)
