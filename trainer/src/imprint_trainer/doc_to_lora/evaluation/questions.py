"""Questions about the world and about programming that a small model can answer, with what counts as right."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Question:
    text: str
    answers: tuple[str, ...]  # any of them makes an answer right

    def is_right(self, answer: str) -> bool:
        """Symbols and words of one letter are taken as written, longer answers in any case; a stem may go on."""
        return any(_stands(one, answer) for one in self.answers)


@cache
def questions() -> tuple[Question, ...]:
    """`questions.txt`: a line `? template`, then lines of `subject = answer | answer; ...`."""
    text = files("imprint_trainer.doc_to_lora.evaluation").joinpath("questions.txt").read_text(encoding="utf-8")
    found, template = [], ""
    for line in text.splitlines():
        if line.startswith("? "):
            template = line[2:]
            continue
        for part in line.split(";"):
            subject, _, answers = part.rpartition(" = ")
            asked = template.replace("{}", subject.strip())
            found.append(Question(asked, tuple(one.strip() for one in answers.split(" | "))))
    return tuple(found)


def _stands(wanted: str, answer: str) -> bool:
    if not wanted.isalnum():
        return wanted.lower() in answer.lower()
    pattern = rf"(?<!\w){re.escape(wanted)}" + (r"(?!\w)" if len(wanted) <= 4 else "")
    return re.search(pattern, answer, 0 if len(wanted) == 1 else re.IGNORECASE) is not None
