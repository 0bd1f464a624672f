"""Answers requests until stdin ends: jobs and chats one after the other, previews and prompts at once."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from imprint_trainer.board import Board
from imprint_trainer.channel import Channel, TooLong, read_lines, seize_stdout
from imprint_trainer.config import ServeConfig
from imprint_trainer.errors import Cancelled, TrainerError, machine_failures
from imprint_trainer.jobs.worker import Worker
from imprint_trainer.models.device import device_kind
from imprint_trainer.protocol import (
    MAX_LINE_BYTES,
    PROTOCOL,
    Cancel,
    CancelCall,
    ChatCall,
    Job,
    MalformedLineError,
    PreviewCall,
    RenderCall,
    Request,
    parse_request,
    refusal,
)

TERM_SECONDS = 10.0  # for a running job to clean up after a TERM
PACKAGES = ("torch", "transformers", "peft", "bitsandbytes", "safetensors")


def serve(config: ServeConfig) -> int:
    """Runs until stdin ends or a TERM arrives; the exit status is 0."""
    board = Board()
    channel = seize_stdout(on_closed=lambda: os._exit(0))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: _end(board, TERM_SECONDS))
    worker = Worker(device=config.device, threads=config.threads, digests=config.digests, tracker=config.tracker)
    channel.send(
        {
            "type": "ready",
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "device": device_kind(config.device),
            "versions": versions(),
        }
    )
    ending = threading.Event()
    _start(partial(_beat, channel, config.heartbeat_seconds, ending), "heartbeat")
    _start(partial(_read, board, channel, worker, config.exit_seconds), "reader")
    if config.warm:
        _warm(worker, config.base_model)
    while task := board.next():
        if isinstance(task, ChatCall):
            on_prompt, on_text = tellers(channel, task)
            last = answer(partial(worker.chat, cancelled=board.cancelled, on_prompt=on_prompt, on_text=on_text), task)
        else:
            last = run_job(worker, board, channel, task)
        board.finish()
        channel.send(last)
    ending.set()
    return 0


def run_job(worker: Worker, board: Board, channel: Channel, job: Job) -> dict[str, Any]:
    """The job's last event."""
    head = {"job_id": job.job_id}
    try:
        result = worker.run(job, emit=lambda event: channel.send(event | head), cancelled=board.cancelled)
        return {"type": "done", **head, "result": result}
    except Cancelled:
        return {"type": "cancelled", **head}
    except Exception as error:
        return {"type": "failed", **head, "error": detail(error)}


def tellers(channel: Channel, call: ChatCall) -> tuple[Callable[[dict[str, Any]], None], Callable[[str], None]]:
    """What to do with what is known of the prompt, and with each piece of an answer's text."""
    head = {"call_id": call.call_id}

    def on_text(text: str) -> None:
        if call.spec.stream:
            channel.send({"type": "token", **head, "text": text})

    return lambda prompt: channel.send({"type": "prompt", **head, "prompt": prompt}), on_text


def answer(call: Any, request: ChatCall | PreviewCall | RenderCall) -> dict[str, Any]:
    head = {"call_id": request.call_id}
    try:
        with machine_failures():
            return {"type": "answer", **head, "result": call(request.spec)}
    except Cancelled:
        return cancelled_call(request.call_id)
    except Exception as error:
        return {"type": "call_failed", **head, "error": detail(error)}


def cancelled_call(call_id: str) -> dict[str, Any]:
    """Tells the service that the call is over; whoever asked has left."""
    error = {"code": TrainerError.code, "message": "the call was cancelled", "hint": TrainerError.hint}
    return {"type": "call_failed", "call_id": call_id, "error": error}


def detail(error: Exception) -> dict[str, str]:
    """Traces go to stderr only, and so do the words of errors that nobody foresaw: they may hold paths."""
    if isinstance(error, TrainerError) and type(error) is not TrainerError:
        return {"code": error.code, "message": error.message, "hint": error.hint}
    traceback.print_exception(error, file=sys.stderr)
    message = error.message if isinstance(error, TrainerError) else f"unexpected {type(error).__name__}"
    return {"code": TrainerError.code, "message": message, "hint": TrainerError.hint}


def versions() -> dict[str, str]:
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _read(board: Board, channel: Channel, worker: Worker, exit_seconds: float) -> None:
    """Ends the process when stdin ends: the parent is gone, and nobody wants the result."""
    try:
        for line in read_lines(0, max_bytes=MAX_LINE_BYTES):
            if isinstance(line, TooLong):
                channel.send(refusal({}, f"a line is longer than {MAX_LINE_BYTES} bytes"))
                continue
            try:
                _take(parse_request(line), board, channel, worker)
            except MalformedLineError as error:
                channel.send(error.answer)
    finally:
        _end(board, exit_seconds)


def _end(board: Board, seconds: float) -> None:
    """Asks what runs to stop, and ends the process in mid-step where it does not."""
    timer = threading.Timer(seconds, os._exit, args=(0,))
    timer.daemon = True
    timer.start()
    board.close()


def _take(request: Request, board: Board, channel: Channel, worker: Worker) -> None:
    if isinstance(request, Cancel):
        if board.cancel(("job", request.job_id)):
            channel.send({"type": "cancelled", "job_id": request.job_id})
    elif isinstance(request, CancelCall):
        if board.cancel(("call", request.call_id)):
            channel.send(cancelled_call(request.call_id))
    elif isinstance(request, PreviewCall):
        call = partial(worker.preview, window=request.window, tokens_per_second=request.tokens_per_second)
        _start(lambda: channel.send(answer(call, request)), f"preview {request.call_id}")
    elif isinstance(request, RenderCall):
        _start(lambda: channel.send(answer(worker.render, request)), f"render {request.call_id}")
    elif not board.add(request):
        print("a job or chat was given twice; ignored", file=sys.stderr)


def _warm(worker: Worker, base_model: str | None) -> None:
    try:
        worker.warm(base_model)
    except Exception as error:
        # The job that needs the base model will say it again, to whom it concerns.
        print(f"the base model could not be loaded in advance: {error}", file=sys.stderr)


def _beat(channel: Channel, seconds: float, ending: threading.Event) -> None:
    while not ending.wait(seconds):
        channel.send({"type": "heartbeat"})


def _start(target: Any, name: str) -> None:
    threading.Thread(target=target, name=name, daemon=True).start()
