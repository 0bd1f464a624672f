"""Loads a base model: safetensors only, no remote code, nothing that unpickles."""

from pathlib import Path
from typing import Any

import torch

from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsupported, OutOfMemory, TrainerError
from imprint_trainer.models.causal_lm import LoadedBase, Quantization
from imprint_trainer.models.device import compute_dtype, multiplies_bf16, pick_device
from imprint_trainer.models.head import check_output_head
from imprint_trainer.models.linear import freeze_linears
from imprint_trainer.models.locate import load_tokenizer, locate_base, read_json, refuse_unsafe
from imprint_trainer.models.memory import available_bytes, available_mb
from imprint_trainer.models.memory_model import BF16, gigabytes, linear_weights, shape_of
from imprint_trainer.models.quantize import dequantise, dequantised_fits, nf4_config, quantise, settle_linear4bit
from imprint_trainer.models.supported import (
    DEQUANTISED,
    cut_towers,
    drop_towers,
    model_class,
    refuse_unsupported,
    stored_as,
)

PREQUANTISED = "nf4"  # sub-folder of a prepared model


def load_base(
    path_or_hub_id: str,
    *,
    quantization: Quantization = "nf4",
    device: str = "auto",
    dtype: torch.dtype | None = None,
    dequantised: bool | None = None,
    digests: Path | None = None,
) -> LoadedBase:
    """Loads a causal language model, frozen and in eval mode.

    `dtype`: of its numbers; None decides by the device. `dequantised`: plain linears with the NF4 numbers; None
    decides by the memory available.
    Raises BaseModelNotFound, BaseModelUnsafe, BaseModelInvalid, BaseModelUnsupported; OutOfMemory is recognised by the
    caller.
    """
    located = locate_base(path_or_hub_id)
    refuse_unsupported(located.folder)
    target = pick_device(device)
    dtype = dtype or compute_dtype(target)
    weights = located.folder
    if quantization == "nf4" and (located.folder / PREQUANTISED / "config.json").is_file():
        weights = located.folder / PREQUANTISED
        refuse_unsafe(weights)
    model = _load(weights, dtype, target, quantization)
    model.requires_grad_(False)
    model.eval()
    model.config.use_cache = False
    drop_presets(model)
    plain, products = False, dtype
    if quantization == "nf4":
        settle_linear4bit(model, dtype)
        on_cpu = target.type == "cpu"
        products = torch.bfloat16 if on_cpu and dtype == torch.float32 and multiplies_bf16() else dtype
        plain = dequantised_fits(model, products, room_on(target)) if dequantised is None else dequantised
        if plain:
            dequantise(model, products)
    freeze_linears(model)
    check_output_head(model, Path(path_or_hub_id).name)
    return LoadedBase(
        model=model,
        tokenizer=load_tokenizer(located.folder),
        folder=located.folder,
        revision=located.revision,
        quantization=quantization,
        dequantised=plain,
        computes_in=str(products if plain else dtype).removeprefix("torch."),
        device=target,
        digests=digests,
    )


def drop_presets(model: Any) -> None:
    """Leaves of generation_config.json the tokens that begin, end and pad: presets such as a repetition_penalty would
    change greedy answers, since transformers applies whatever a call does not name."""
    from transformers import GenerationConfig

    own = model.generation_config
    model.generation_config = GenerationConfig(
        bos_token_id=own.bos_token_id, eos_token_id=own.eos_token_id, pad_token_id=own.pad_token_id
    )


def _load(folder: Path, dtype: torch.dtype, device: torch.device, quantization: Quantization) -> Any:
    from transformers import AutoConfig, FineGrainedFP8Config

    stored = stored_as(read_json(folder / "config.json"))
    if stored == "nf4" and quantization == "none":
        raise BaseModelUnsupported(
            f"{folder.name} is stored in four bits: ask for quantization nf4, or take the model that it was made from."
        )
    settings: dict[str, Any] = {"dtype": dtype, "device_map": {"": str(device)}}
    if stored in DEQUANTISED:
        require_room(folder)
        settings["quantization_config"] = FineGrainedFP8Config(dequantize=True)
        if quantization == "nf4":  # as narrow as can be, and a layer at a time to the card
            settings |= {"dtype": torch.bfloat16, "device_map": {"": "cpu"}}
    elif quantization == "nf4" and stored is None:  # an explicit None would switch the folder's own off
        settings["quantization_config"] = nf4_config(dtype)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        config._attn_implementation = None  # whatever the file says: sdpa, or eager where it cannot be (Gemma 2)
        cut_towers(config)
        model = model_class(config, folder.name).from_pretrained(
            folder, config=config, use_safetensors=True, local_files_only=True, trust_remote_code=False, **settings
        )
        if config.get_text_config() is not config:
            drop_towers(model)
        return quantise(model, dtype, device) if stored in DEQUANTISED and quantization == "nf4" else model
    except (TrainerError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        if isinstance(error, RuntimeError) and "allocate" in str(error):
            raise
        raise BaseModelInvalid(f"{folder.name} cannot be loaded: {first_line(error)}") from error


def room_on(device: torch.device) -> int:
    """Bytes that are free where a base is held."""
    return available_bytes() if device.type == "cpu" else int(1e6 * available_mb(str(device)))


def require_room(folder: Path) -> None:
    """Raises OutOfMemory where the weights in bf16, which are held while they are read, do not fit."""
    shape = shape_of(read_json(folder / "config.json"))
    needed, free = 0 if shape is None else BF16 * linear_weights(shape), available_bytes()
    if needed > free:
        raise OutOfMemory(
            f"{folder.name} is stored in 8 bits and takes {gigabytes(needed / 1e6)} in bf16 while it is loaded, "
            f"and {gigabytes(free / 1e6)} are available."
        )


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
