"""What an installed hypernetwork makes of a recorded session."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imprint_trainer.data.session import Session
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.config import AdapterPlace
from imprint_trainer.doc_to_lora.document import Read, document_of_tokens
from imprint_trainer.doc_to_lora.entries import unread_characters
from imprint_trainer.doc_to_lora.generate import Update, generate_update, most_tokens
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.prompt import document_ids
from imprint_trainer.doc_to_lora.ridge.config import RidgeConfig
from imprint_trainer.doc_to_lora.ridge.load import Ridge, load_ridge
from imprint_trainer.doc_to_lora.ridge.update import update_of, worth_reading
from imprint_trainer.lora.loss import Read as ReadStates
from imprint_trainer.lora.loss import read_whole
from imprint_trainer.models.causal_lm import LoadedBase


@dataclass(frozen=True)
class Imprinted:
    """`read`: how much of what the session holds was read, kind by kind."""

    update: Update
    read: tuple[Read, ...]
    config: AdapterPlace
    name: str  # of the method, for the card


@dataclass(frozen=True)
class Limits:
    """None: what the hypernetwork itself was made for."""

    max_chunks: int
    max_chunk_length: int | None
    rank: int | None


def load_any(folder: Path, device: Any) -> Hypernetwork | Ridge:
    """Raises HypernetworkInvalid."""
    config = store.read_config(folder)
    return load_ridge(folder, device=device) if isinstance(config, RidgeConfig) else store.load(folder, device=device)


def choose(folders: dict[store.Kind, Path], windows: Sequence[Window]) -> Path:
    """A ridge hypernetwork learns from what the agent wrote; where that is next to nothing, one that reads documents is
    asked what people and tools said, if there is one."""
    ridge, perceiver = folders.get("ridge"), folders.get("perceiver")
    if ridge is None or perceiver is None:
        return next(iter(folders.values()))
    config = store.read_config(ridge)
    supervised = sum(window.supervised_count for window in windows)
    return perceiver if isinstance(config, RidgeConfig) and supervised < config.least_supervised else ridge


def imprint(
    made: Hypernetwork | Ridge,
    base: LoadedBase,
    session: Session,
    cut: Callable[[], Sequence[Window]],
    limits: Limits,
    *,
    read: ReadStates = read_whole,
    stop: Callable[[], None] = lambda: None,
) -> Imprinted:
    """`cut`: the session's windows, as trainings cut them, of the length of a chunk: chunks are windows to a ridge
    hypernetwork, which `read` reads. Raises what reading and solving raise."""
    if isinstance(made, Ridge):
        windows = cut()
        chosen = [windows[one] for one in worth_reading(windows, limits.max_chunks, made.config.most_supervised)]
        update = update_of(made, base.model, chosen, rank=limits.rank, read=read, stop=stop)
        return Imprinted(update, _characters(base, session, windows, chosen), made.config, "Ridge, one forward pass")
    config = made.config
    document = document_of_tokens(
        session,
        most_tokens(config, base.model, max_chunk_length=limits.max_chunk_length, max_chunks=limits.max_chunks),
        lambda text: len(document_ids(base.tokenizer, config.base_model_name_or_path, text)),
    )
    update = generate_update(
        made,
        base.model,
        base.tokenizer,
        document.text,
        max_chunk_length=limits.max_chunk_length,
        compress_rank=limits.rank,
    )
    return Imprinted(update, document.read, config, "Doc-to-LoRA, one forward pass")


def _characters(
    base: LoadedBase, session: Session, windows: Sequence[Window], chosen: Sequence[Window]
) -> tuple[Read, ...]:
    """Of the lessons, of what stands around them in windows, and of what no window holds."""
    kinds = (("lessons", True), ("context", False))
    counts = [(kind, _length(base, windows, lesson), _length(base, chosen, lesson)) for kind, lesson in kinds]
    unread = [(kind, characters, 0) for kind, characters in unread_characters(session).items()]
    return tuple(Read(*one) for one in (*counts, *unread) if one[1])


def _length(base: LoadedBase, windows: Sequence[Window], lesson: bool) -> int:
    """Characters of the tokens that are lessons, or of the others."""
    rows = (
        [one for one, supervised in zip(window.input_ids, window.supervised, strict=True) if supervised is lesson]
        for window in windows
    )
    return sum(len(base.tokenizer.decode(row)) for row in rows)
