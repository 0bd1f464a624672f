"""Which base models are trained here: each refusal is one sentence, before any weight is read.

Imports torch and transformers only where a model's class is asked: plans and previews refuse too.
"""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from imprint_trainer.errors import BaseModelUnsupported
from imprint_trainer.models.locate import read_json
from imprint_trainer.models.memory_model import has_experts

DEQUANTISED = ("fp8",)  # stored so, and turned back into plain numbers while they are read
PAST_THEIR_LAYERS = ("mamba", "rwkv", "xlstm")
DEPTHS = ("num_hidden_layers", "depth", "num_layers", "num_global_layers", "encoder_layers")
# PEFT refuses these: transformers' fused kernels read their weights past an adapter.
READ_PAST: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("mamba2", "falcon_mamba", "falcon_h1", "nemotron_h"), ("out_proj",)
)


def refuse_unsupported(folder: Path) -> None:
    """By config.json alone. Raises BaseModelUnsupported for a mixture of experts, which bitsandbytes would leave as
    they are and a training would pass over; for families that read or change weights past their layers; and for weights
    in a format that nothing here reads."""
    config, name = read_json(folder / "config.json"), folder.name
    if (family := config.get("model_type")) in PAST_THEIR_LAYERS:
        raise BaseModelUnsupported(
            f"{name} is of the family {family}, which computes past its layers: no adapter fits."
        )
    if has_experts(config):
        raise BaseModelUnsupported(f"{name} is a mixture of experts, which are not quantised or trained here.")
    stored = stored_as(config)
    if stored not in (None, "nf4", *DEQUANTISED):
        raise BaseModelUnsupported(
            f"{name} is stored quantised ({stored}): take the model in bf16 or fp16 that it was made from, "
            "which is quantised here."
        )


def stored_as(config: Mapping[str, Any]) -> str | None:
    """How the weights beside a config.json are quantised: `nf4`, or as its `quant_method` says; None where they are
    plain numbers."""
    said = config.get("quantization_config") or (config.get("text_config") or {}).get("quantization_config")
    if not said:
        return None
    if said.get("load_in_4bit") and said.get("bnb_4bit_quant_type") == "nf4":
        return "nf4"
    return str(said.get("quant_method", "bitsandbytes"))


def model_class(config: Any, name: str) -> Any:
    """transformers' automatic class for a config of its own: that of the whole model where there are others than the
    text's parts, so that modules and adapters are named as in the base's files, PEFT and vLLM. Raises
    BaseModelUnsupported for a family that is not trained here."""
    return made_by(config, name)[0]


def made_by(config: Any, name: str) -> tuple[Any, Any]:
    """The class, and the model that it makes of the config: its modules without their numbers."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    auto = AutoModelForCausalLM if config.get_text_config() is config else AutoModelForImageTextToText
    if type(config) not in auto._model_mapping:
        raise BaseModelUnsupported(
            f"{name} is a {config.model_type}, of which transformers has no model that continues text."
        )
    try:
        with torch.device("meta"):
            model = auto.from_config(config, trust_remote_code=False)
        reads_ids = "input_ids" in inspect.signature(model.get_decoder().forward).parameters
    except (ValueError, TypeError, AttributeError, ImportError, NotImplementedError) as error:
        raise BaseModelUnsupported(f"{name} is a {config.model_type}, which cannot be made: {error}") from error
    if not reads_ids or not linear_layers(model):
        raise BaseModelUnsupported(
            f"{name} is a {type(model).__name__}, which has no linear layers below an output layer that can be trained."
        )
    return auto, model


def linear_layers(model: Any) -> list[str]:
    """Dotted names of every linear layer that can be adapted, in model order: not of the output head."""
    from torch.nn import Linear

    head = model.get_output_embeddings()
    past = READ_PAST.get(model.config.get_text_config().model_type, ())
    return [
        name
        for name, module in model.named_modules()
        if isinstance(module, Linear) and module is not head and name.rsplit(".", 1)[-1] not in past
    ]


def cut_towers(config: Any) -> None:
    """Of images and sound, which sessions do not hold: they are made without blocks, and those of the files are not
    read."""
    text = config.get_text_config()
    for part in (getattr(config, name, None) for name in config.sub_configs):
        if part is not None and part is not text:
            for depth in (name for name in DEPTHS if isinstance(getattr(part, name, None), int)):
                setattr(part, depth, 0)


def drop_towers(model: Any) -> None:
    """What is left of them beside the decoder."""
    from torch.nn import Identity

    decoder, head = model.get_decoder(), model.get_output_embeddings()
    place = next(name for name, module in model.named_modules() if module is decoder)
    beside = model.get_submodule(place.rpartition(".")[0])
    for name, module in list(beside.named_children()):
        if module is not decoder and head not in module.modules():
            setattr(beside, name, Identity())
