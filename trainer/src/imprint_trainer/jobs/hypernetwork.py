"""A single-pass imprint: the session through a hypernetwork, to files that are proved."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from imprint_trainer.adapters.provenance import provenance
from imprint_trainer.adapters.save import save_and_prove
from imprint_trainer.adapters.write import sha256_of
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import load_session
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.protocol import TrainHypernetworkSpec

if TYPE_CHECKING:
    from imprint_trainer.doc_to_lora.modeling import Hypernetwork

PROOF_WINDOW = 1024  # tokens of the windows that the proof is measured on


def train_hypernetwork(spec: TrainHypernetworkSpec, context: JobContext) -> dict[str, Any]:
    """The contracts' `JobResult`. Raises HypernetworkNotInstalled before any model is loaded."""
    folder = find_hypernetwork(spec)
    from imprint_trainer.doc_to_lora.document import document_text
    from imprint_trainer.doc_to_lora.generate import generate_adapter

    context.phase("loading_model")
    base = context.base(spec.base_model, "nf4")
    digest, hypernetwork = resident_hypernetwork(base, folder)
    context.phase("preparing_data")
    session = load_session(spec.session_path)
    prepared = prepare_windows(
        session, base.tokenizer, max_length=PROOF_WINDOW, include_unsuccessful=spec.include_unsuccessful
    )
    context.phase("generating")
    generated = generate_adapter(
        hypernetwork,
        base.model,
        base.tokenizer,
        document_text(session),
        max_chunk_length=spec.max_chunk_length,
        scaling=spec.scaling,
        compress_rank=spec.compress_rank,
    )
    payload = generated.adapter
    context.phase("saving")
    return save_and_prove(
        Path(spec.output_dir),
        payload,
        base=base,
        windows=prepared.windows,
        record={
            "method": "hypernetwork",
            "task_type": spec.task_type,
            "sessions": [{"session_id": spec.session_id, "sha256": sha256_of(Path(spec.session_path))}],
            "config": {
                "seed": spec.seed,
                "max_chunk_length": spec.max_chunk_length,
                "scaling": spec.scaling,
                "compress_rank": spec.compress_rank,
            },
            "hypernetwork": {"name": folder.name, "sha256": digest},
            "document_tokens": generated.tokens,
            "chunks": generated.chunks,
            "uncompressed_rank": generated.uncompressed_rank,
            "compression_error": generated.compression_error,
            **provenance(base, spec.base_model_name),
        },
        card={
            "adapter_id": spec.adapter_id,
            "base_model_name": spec.base_model_name,
            "method": f"Doc-to-LoRA, one forward pass of {folder.name}",
            "task_type": spec.task_type,
            "payload_note": f"Rank {payload.rank}, from {generated.tokens} tokens in {generated.chunks} chunks.",
        },
        on_proving=lambda: context.phase("proving"),
        stop=context.stop_if_cancelled,
    )


def find_hypernetwork(spec: TrainHypernetworkSpec) -> Path:
    """The converted hypernetwork of the specification's base model. Raises HypernetworkNotInstalled."""
    from imprint_trainer.doc_to_lora.checkpoint import store

    return store.find([Path(folder) for folder in spec.hypernetworks_dirs], spec.base_model_name)


def resident_hypernetwork(base: LoadedBase, folder: Path) -> "tuple[str, Hypernetwork]":
    """SHA-256 of its weights, and the hypernetwork: kept while the base model is, read again once changed."""
    from imprint_trainer.doc_to_lora.checkpoint import store

    digest = sha256_of(folder / store.WEIGHTS_FILE)
    if base.memo.get("hypernetwork", ("",))[0] != digest:
        base.memo["hypernetwork"] = (digest, store.load(folder, device=base.device))
    return cast("tuple[str, Hypernetwork]", base.memo["hypernetwork"])
