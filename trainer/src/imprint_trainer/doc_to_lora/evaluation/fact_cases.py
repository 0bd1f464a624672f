"""Facts that a session states: asked for with its adapter, without one, and of an entity that it does not name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.doc_to_lora.document import document_text
from imprint_trainer.doc_to_lora.evaluation.answers import answers
from imprint_trainer.doc_to_lora.evaluation.facts import Fact, as_session, is_right, make_facts, says
from imprint_trainer.doc_to_lora.evaluation.imprints import Imprint, Imprinter
from imprint_trainer.doc_to_lora.evaluation.lists import FactLists
from imprint_trainer.doc_to_lora.evaluation.passages import WINDOW
from imprint_trainer.doc_to_lora.evaluation.results import Key, Results

BATCH = 24  # facts a case


@dataclass(frozen=True)
class FactCases:
    """`count` facts of each kind for each seed."""

    imprinter: Imprinter
    lists: FactLists
    count: int
    seeds: int

    def keys(self, _: Results) -> Iterator[Key]:
        for seed in range(self.seeds):
            for start in range(0, len(make_facts(self.lists, self.count, seed)), BATCH):
                yield "facts", seed, start

    def case(self, key: Key, _: Results) -> dict[str, Any]:
        """For each fact its kind, and whether the answer says it: `right` with the adapter, `base` without, `elsewhere`
        with it, asked about another entity."""
        _name, seed, start = key
        facts = make_facts(self.lists, self.count, int(seed))[int(start) : int(start) + BATCH]
        imprints = [self.imprint(fact, int(seed)) for fact in facts]
        own = answers(self.imprinter, [fact.question for fact in facts], imprints)
        bare = answers(self.imprinter, [fact.question for fact in facts])
        elsewhere = answers(self.imprinter, [fact.elsewhere for fact in facts], imprints)
        return {
            "kinds": [fact.kind for fact in facts],
            "right": [is_right(text, fact) for text, fact in zip(own, facts, strict=True)],
            "base": [is_right(text, fact) for text, fact in zip(bare, facts, strict=True)],
            "elsewhere": [says(text, fact.value) for text, fact in zip(elsewhere, facts, strict=True)],
            "refused": sum(imprint.scale == 0 for imprint in imprints),
        }

    def imprint(self, fact: Fact, seed: int) -> Imprint:
        session = as_session(fact, self.lists, seed)
        prepared = prepare_windows(session, self.imprinter.base.tokenizer, max_length=WINDOW, include_unsuccessful=True)
        return self.imprinter.of(document_text(session), prepared.windows)
