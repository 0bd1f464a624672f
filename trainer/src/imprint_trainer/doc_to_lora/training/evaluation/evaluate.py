"""The table of a hypernetwork: what its adapters recall, and what they leave alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from imprint_trainer.adapters.neutral import neutral_loss
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.evaluation.answers import adapted, answer
from imprint_trainer.doc_to_lora.training.evaluation.cases import Row, make_rows
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.synthetic import NUMERIC_KINDS, Example
from imprint_trainer.doc_to_lora.training.unrelated import unrelated_questions

ANSWER_TOKENS = 24
UNRELATED = 100
NEUTRAL_DOCUMENTS = 20


@dataclass(frozen=True)
class Measured:
    """A row of the table. `share`: exact answers, unless the name says otherwise; `numbers`: of numeric ones."""

    row: str
    documents: int
    share: float
    numbers: float | None
    goal: str
    met: bool


def evaluate(
    base: Base,
    hypernetwork: Hypernetwork,
    *,
    documents: int,
    seed: int,
    batch: int,
    sessions: Sequence[str] = (),
    on_row: Callable[[Measured], None] = lambda _: None,
) -> list[Measured]:
    """Every row, in the table's order. Deterministic in its arguments on one machine."""
    prompts = Prompts(base.tokenizer)
    rows = make_rows(documents, seed=seed, sessions=sessions)
    measured: list[Measured] = []

    def note(row: Measured) -> None:
        measured.append(row)
        on_row(row)

    def ask(row: Row, own: Sequence[str] | None) -> list[str]:
        questions = [example.question for example in row.examples]
        network = None if own is None else hypernetwork
        return answer(
            base, prompts, questions, limit=ANSWER_TOKENS, batch=batch, hypernetwork=network, documents=own or ()
        )

    for row in rows:
        answers = ask(row, [example.document for example in row.examples])
        share, numbers = exact(row.examples, answers)
        note(Measured(row.name, len(answers), share, numbers, f">= {row.goal:.2f}", share >= row.goal))
    first = rows[0]
    texts = [example.document for example in first.examples]
    others = [*first.examples[1:], first.examples[0]]
    bare, swapped = ask(first, None), ask(first, [example.document for example in others])
    for name, answers in (("base without adapter", bare), ("another document's adapter", swapped)):
        share, numbers = exact(first.examples, answers)
        met = share <= 0.10 and (numbers or 0.0) <= 0.02
        note(Measured(name, len(texts), share, numbers, "<= 0.10, numbers <= 0.02", met))
    share, numbers = exact(others, swapped)
    note(Measured("that adapter's own fact instead", len(texts), share, numbers, "<= 0.10", share <= 0.10))
    note(unrelated_row(base, prompts, hypernetwork, texts, seed=seed, batch=batch))
    note(neutral_row(base, hypernetwork, texts[:NEUTRAL_DOCUMENTS]))
    return measured


def exact(examples: Sequence[Example], answers: Sequence[str]) -> tuple[float, float | None]:
    """Share of answers that equal the value, and that among numeric values; None where there are none."""
    hits = [example.answer == given for example, given in zip(examples, answers, strict=True)]
    numeric = [hit for example, hit in zip(examples, hits, strict=True) if example.kind in NUMERIC_KINDS]
    return sum(hits) / len(hits), sum(numeric) / len(numeric) if numeric else None


def unrelated_row(
    base: Base, prompts: Prompts, hypernetwork: Hypernetwork, documents: Sequence[str], *, seed: int, batch: int
) -> Measured:
    """Questions held out of training, each with some document's adapter: the base's answers, word for word."""
    questions = unrelated_questions(UNRELATED, held_out=True, seed=seed)
    bare = answer(base, prompts, questions, limit=ANSWER_TOKENS, batch=batch)
    own = [documents[index % len(documents)] for index in range(len(questions))]
    given = answer(base, prompts, questions, limit=ANSWER_TOKENS, batch=batch, hypernetwork=hypernetwork, documents=own)
    share = sum(a == b for a, b in zip(bare, given, strict=True)) / len(questions)
    return Measured("unrelated answers equal to the base's", len(questions), share, None, ">= 0.90", share >= 0.90)


def neutral_row(base: Base, hypernetwork: Hypernetwork, documents: Sequence[str]) -> Measured:
    """Mean relative rise of the loss on neutral text."""
    device = base.model.device
    before = neutral_loss(base.model, base.tokenizer, device)
    rises = []
    for document in documents:
        with adapted(base, hypernetwork, [document]):
            rises.append(neutral_loss(base.model, base.tokenizer, device) / before - 1)
    rise = sum(rises) / len(rises)
    return Measured("rise of the neutral text's loss", len(documents), rise, None, "<= 0.03", rise <= 0.03)
