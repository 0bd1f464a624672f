"""A single-pass imprint: the session through a hypernetwork, to files that are proved."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, cast

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import load_session
from imprint_trainer.data.windows import Window
from imprint_trainer.files import sha256_of
from imprint_trainer.imprint.calibrate import calibrate
from imprint_trainer.imprint.config import ClosedFormConfig
from imprint_trainer.imprint.folder import WEIGHTS_FILE, find, load, read_config
from imprint_trainer.imprint.memory import Solved, planned_imprint
from imprint_trainer.imprint.update import Hypernetwork, Imprinted, Limits, to_peft
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.lora.loss import interruptible, mean_loss, read_whole
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.protocol import TrainHypernetworkSpec
from imprint_trainer.publish.losses import Readers, readers
from imprint_trainer.publish.prove import IMPRINT_TOKENS, Imprint, sample, save_and_prove
from imprint_trainer.publish.provenance import provenance

PROOF_WINDOW = 1024  # tokens of the windows that the proof is measured on, and that are read where none are asked for


def imprint(spec: TrainHypernetworkSpec, context: JobContext) -> dict[str, Any]:
    """The contracts' `JobResult`. Raises HypernetworkNotInstalled and OutOfMemory before any model is loaded."""
    folder = find([Path(folder) for folder in spec.hypernetworks_dirs], spec.base_model_name)
    planned, dequantised = planned_imprint(spec.base_model, solved_by(folder), context.device)
    planned.require_fit()
    context.phase("loading_model")
    base = context.base(spec.base_model, "nf4", dequantised=dequantised)
    context.phase("preparing_data")
    session = load_session(spec.session_path)

    @cache
    def windows_of(length: int) -> tuple[Window, ...]:
        found = prepare_windows(
            session, base.tokenizer, max_length=length, include_unsuccessful=spec.include_unsuccessful
        )
        return found.windows

    windows = windows_of(PROOF_WINDOW)
    digest, hypernetwork = resident_hypernetwork(base, folder)
    context.phase("generating")
    reads = readers(base, min(hypernetwork.config.layer_indices))
    made = hypernetwork.imprint(
        base,
        session,
        lambda: windows_of(spec.max_chunk_length or PROOF_WINDOW),
        Limits(spec.max_chunks, spec.max_chunk_length, spec.compress_rank),
        # The proof reads windows of its own length again; others may be long
        read=reads.anew if spec.max_chunk_length is None else read_whole,
        stop=context.stop_if_cancelled,
    )
    update = made.update
    proved = proved_by(spec, base, windows, made, reads, context)
    payload = to_peft(update.factors, made.config, base.model, scaling=proved.record["scale"])
    context.phase("saving")
    return save_and_prove(
        Path(spec.output_dir),
        payload,
        base=base,
        windows=windows,
        imprint=proved,
        record={
            "method": "hypernetwork",
            "task_type": spec.task_type,
            "sessions": [{"session_id": spec.session_id, "sha256": sha256_of(Path(spec.session_path))}],
            "config": {
                "seed": spec.seed,
                "max_chunk_length": spec.max_chunk_length,
                "scaling": spec.scaling,
                "max_chunks": spec.max_chunks,
                "compress_rank": spec.compress_rank,
            },
            "hypernetwork": {"name": folder.name, "sha256": digest},
            **proved.record,
            "uncompressed_rank": update.uncompressed_rank,
            "compression_error": update.compression_error,
            **provenance(base, spec.base_model_name),
        },
        card={
            "adapter_id": spec.adapter_id,
            "base_model_name": spec.base_model_name,
            "method": f"{made.name} of {folder.name}",
            "task_type": spec.task_type,
            "payload_note": f"Rank {payload.rank}, from {update.tokens} tokens in {update.chunks} chunks.",
        },
        on_proving=lambda: context.phase("proving"),
        stop=context.stop_if_cancelled,
    )


def solved_by(folder: Path) -> Solved:
    config, stored = read_config(folder), (folder / WEIGHTS_FILE).stat().st_size
    if not isinstance(config, ClosedFormConfig):
        return Solved(0, 0, 0, stored)
    (inputs,) = config.d_in.values()
    return Solved(config.num_layers, inputs, config.feature_size, stored, config.most_supervised)


def proved_by(
    spec: TrainHypernetworkSpec,
    base: LoadedBase,
    windows: Sequence[Window],
    made: Imprinted,
    reads: Readers,
    context: JobContext,
) -> Imprint:
    """The update's scale, as asked or calibrated, and how much of the session it was made of."""
    own = [windows[index] for index in sample(windows, IMPRINT_TOKENS)]
    before = mean_loss(base.model, interruptible(own, context.stop_if_cancelled), base.device, reads.bare)
    scale, calibration = spec.scaling, None
    if scale is None:
        found = calibrate(base, made, own, reads, stop=context.stop_if_cancelled)
        scale, calibration = found.scale, {"helps": found.helps, "tried": found.tried}
    coverage = {
        "characters": sum(one.characters for one in made.read),
        "characters_read": sum(one.characters_read for one in made.read),
        "kinds": [asdict(one) for one in made.read],
        "tokens": made.update.tokens,
        "chunks": made.update.chunks,
    }
    return Imprint({"scale": scale, "calibration": calibration, "coverage": coverage}, before, reads)


def resident_hypernetwork(base: LoadedBase, folder: Path) -> tuple[str, Hypernetwork]:
    """SHA-256 of its weights, and the hypernetwork: kept while the base model is, read again once changed."""
    digest = sha256_of(folder / WEIGHTS_FILE)
    kept = f"hypernetwork {folder}"
    if base.memo.get(kept, ("",))[0] != digest:
        base.memo[kept] = (digest, load(folder, base.device))
    return cast("tuple[str, Hypernetwork]", base.memo[kept])
