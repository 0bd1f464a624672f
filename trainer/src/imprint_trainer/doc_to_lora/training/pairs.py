"""Training data of one's own: a JSON object {document, question, answer} on each line."""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from imprint_trainer.data.session import first_fault
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.doc_to_lora.training.synthetic import Example


class Pair(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, str_strip_whitespace=True)

    document: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)


def read_pairs(path: Path) -> tuple[list[list[Example]], str]:
    """The examples of each document, in the file's order, and the file's SHA-256.

    Raises TrainingRefused, naming the line, for anything but such objects; empty lines are skipped.
    """
    try:
        content = path.read_bytes()
        lines = content.decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else f"cannot be read ({error.strerror})"
        raise TrainingRefused(
            f"--data: {path.name} {reason}: give synthetic, a JSONL file or a folder of sessions."
        ) from None
    documents: dict[str, list[Example]] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            pair = _read_line(line, f"{path.name}, line {number}")
            documents.setdefault(pair.document, []).append(Example(pair.document, pair.question, pair.answer, "pair"))
    if not documents:
        raise TrainingRefused(f"--data: {path.name} holds no line: write one {{document, question, answer}} a line.")
    return list(documents.values()), hashlib.sha256(content).hexdigest()


def _read_line(line: str, place: str) -> Pair:
    try:
        return Pair.model_validate_json(line)
    except ValidationError as error:
        raise TrainingRefused(
            f"--data: {place}: {first_fault(error)}. Write an object with the texts document, question and answer."
        ) from None
