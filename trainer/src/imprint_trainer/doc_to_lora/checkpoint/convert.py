"""A published checkpoint, read once through the allow-list, becomes safetensors and JSON (section 2.1)."""

from pathlib import Path

from imprint_trainer.doc_to_lora.checkpoint.archive import Archive
from imprint_trainer.doc_to_lora.checkpoint.plain import RawCheckpoint, split_flat_dict
from imprint_trainer.doc_to_lora.checkpoint.reference import reference_config
from imprint_trainer.doc_to_lora.checkpoint.store import save
from imprint_trainer.doc_to_lora.checkpoint.unpickle import unpickle
from imprint_trainer.doc_to_lora.config import HypernetworkConfig, PerceiverAttention
from imprint_trainer.errors import HypernetworkInvalid


def read_checkpoint(path: Path) -> RawCheckpoint:
    """A `pytorch_model.bin`; raises HypernetworkInvalid when it is damaged, hostile or something else."""
    with Archive(path) as archive:
        raw = split_flat_dict(unpickle(archive))
    # Tensors may share storages: a small file could otherwise unfold into a huge hypernetwork
    if sum(tensor.nbytes for tensor in raw.tensors.values()) > 2 * path.stat().st_size:
        raise HypernetworkInvalid("The checkpoint's tensors are larger than the checkpoint.")
    return raw


def convert(
    path: Path, base_model_name: str, out_dir: Path, *, attention: PerceiverAttention | None = None
) -> HypernetworkConfig:
    """Write `out_dir` from the checkpoint at `path`, which must have been made for `base_model_name`.

    `attention` gives Perceiver head counts that differ from the reference's (a checkpoint does not store them).
    Raises HypernetworkInvalid, with nothing written.
    """
    raw = read_checkpoint(path)
    if raw.base_model_name_or_path != base_model_name:
        raise HypernetworkInvalid(
            f"The checkpoint was trained for {raw.base_model_name_or_path}, not for {base_model_name}."
        )
    config = reference_config(raw, attention or PerceiverAttention())
    save(config, raw.tensors, out_dir)
    return config
