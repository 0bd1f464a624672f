"""Loss on development sessions: what a document's own adapter brings there, and what an unrelated one's does."""

import random
from collections.abc import Sequence
from statistics import fmean

import torch

from imprint_trainer.adapters.neutral import TEXTS, neutral_window
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.rest.noted import Notes, asked_of
from imprint_trainer.doc_to_lora.training.rest.passages import Corpus, Passage
from imprint_trainer.doc_to_lora.training.rest.reading import Read, SplitBase
from imprint_trainer.doc_to_lora.training.rest.student import Update, update_of
from imprint_trainer.lora.loss import chunked_cross_entropy
from imprint_trainer.models.output_head import output_head

CHUNKS = (1, 4, 16)
ASKED = 32  # notes
Report = dict[str, float]


def measured_passages(corpus: Corpus, most: int) -> list[Passage]:
    """Of each group in turn, at the last cut of different sessions."""
    rng = random.Random("measured")
    shuffled = [rng.sample(group, len(group)) for group in corpus.groups]
    rounds = max(map(len, shuffled))
    return [group[turn] for turn in range(rounds) for group in shuffled if turn < len(group)][:most]


@torch.no_grad()
def measure(
    hypernetwork: Hypernetwork, split: SplitBase, base: Base, passages: Sequence[Passage], notes: Notes, length: int
) -> Report:
    """Of documents of K chunks at most. Changes of the loss relative to the base, means over passages: `own_K`,
    `unrelated_K` (the adapter of the next group's document on the same window) and `neutral_K`; `share_better_K` of the
    passages whose own adapter is the better of the two. Of notes: `noted_K`, the share whose value is the likeliest
    answer to its question, token for token, and `leaked_K`, to one that it does not answer."""
    neutral = [neutral_window(base.tokenizer, name) for name in TEXTS]
    report: Report = {}
    for count in CHUNKS:
        updates = update_of(hypernetwork, split, base, [(passage, count) for passage in passages], length)
        own, unrelated, quiet = [], [], []
        for index, passage in enumerate(passages):
            read = split.window(passage.windows[0])
            other = _other(passages, index)
            own.append(_change(split, read, updates[index]))
            unrelated.append(_change(split, read, updates[other]))
            quiet.append(_change(split, split.window(neutral[index % len(neutral)]), updates[index]))
        report |= {
            f"own_{count}": round(fmean(own), 5),
            f"unrelated_{count}": round(fmean(unrelated), 5),
            f"neutral_{count}": round(fmean(quiet), 5),
            f"share_better_{count}": round(fmean(a < b for a, b in zip(own, unrelated, strict=True)), 3),
        }
        asked = asked_of(notes, passages, ASKED)
        updates = update_of(hypernetwork, split, base, [(one.document, count) for one in asked], length)
        for name, windows in (("noted", [a.answer for a in asked]), ("leaked", [a.quiet for a in asked])):
            said = [_says(split, window, update) for window, update in zip(windows, updates, strict=True)]
            report[f"{name}_{count}"] = round(fmean(said), 3)
    return report


def _says(split: SplitBase, window: Window, update: Update) -> bool:
    """Whether greedy decoding gives the window's targets."""
    read = split.window(window, keep=False)
    with applied(split.model, update, split.config):
        hidden = split.upper(read.states)[read.positions.to(split.model.device)]
    return bool((split.log_probs(hidden).argmax(-1).cpu() == read.targets).all())


def _other(passages: Sequence[Passage], index: int) -> int:
    order = (*range(index + 1, len(passages)), *range(index))
    return next((other for other in order if passages[other].group != passages[index].group), index)


def _change(split: SplitBase, read: Read, update: Update) -> float:
    device = split.model.device
    with applied(split.model, update, split.config):
        hidden = split.upper(read.states)[read.positions.to(device)]
    total = chunked_cross_entropy(hidden, output_head(split.model), read.targets.to(device))
    return float(total) / float(read.nll.sum()) - 1


def windows_of(corpus: Corpus, count: int, seed: int) -> list[Window]:
    """Of different passages, in random order."""
    passages = corpus.passages
    rng = random.Random(f"axes {seed}")
    return [rng.choice(passage.windows) for passage in rng.sample(passages, min(count, len(passages)))]
