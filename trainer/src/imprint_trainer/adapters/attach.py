"""Loads an adapter from its files onto the resident base, through stock PEFT, and takes it off again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import nn

from imprint_trainer.adapters.fresh import detach
from imprint_trainer.adapters.write import CONFIG_FILE, WEIGHTS_FILE
from imprint_trainer.errors import AdapterInvalid
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.scan import read_json

MAX_CONFIG_BYTES = 1 << 20
Names = list[str] | str | None


class AdapterConfig(BaseModel):
    """What adapter_config.json may say. Anything else could make PEFT import modules or fetch files (auto_mapping,
    megatron_core, tokenizer_kwargs), or make a layer that the consumers do not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    peft_type: Literal["LORA"]
    task_type: Literal["CAUSAL_LM"] | None = None
    base_model_name_or_path: str | None = None
    revision: str | None = None
    r: int = Field(ge=1, le=4096)
    lora_alpha: float = Field(gt=0, allow_inf_nan=False)
    lora_dropout: float = 0.0
    bias: Literal["none"] = "none"
    use_rslora: bool = False
    use_dora: Literal[False] = False
    fan_in_fan_out: Literal[False] = False
    modules_to_save: None = None
    inference_mode: bool = True
    init_lora_weights: Literal[True] = True
    target_modules: list[str] = Field(min_length=1, max_length=4096)
    layers_to_transform: list[int] | None = None
    layers_pattern: Names = None


def read_adapter_config(folder: Path) -> AdapterConfig:
    """Raises AdapterInvalid for files that are missing, and for any key that is not known to be harmless."""
    for name in (CONFIG_FILE, WEIGHTS_FILE):
        if not (folder / name).is_file():
            raise AdapterInvalid(f"the adapter holds no {name}")
    if (folder / CONFIG_FILE).stat().st_size > MAX_CONFIG_BYTES:
        raise AdapterInvalid(f"{CONFIG_FILE} is too large")
    try:
        return AdapterConfig.model_validate(without_defaults(read_json(folder / CONFIG_FILE)))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise AdapterInvalid(f"{CONFIG_FILE}: {field}: {first['msg']}") from error
    except (ValueError, AttributeError) as error:
        raise AdapterInvalid(f"{CONFIG_FILE} is not a JSON object") from error


def without_defaults(value: dict[str, Any]) -> dict[str, Any]:
    """PEFT spells out every option that it does not use: what equals its default, or is null or empty, says nothing."""
    from peft import LoraConfig

    defaults = LoraConfig().to_dict()
    return {
        key: item
        for key, item in value.items()
        if key in AdapterConfig.model_fields
        or not (key == "peft_version" or item in (None, False, {}, []) or item == defaults.get(key))
    }


@contextmanager
def attached(base: LoadedBase, folder: Path) -> Iterator[CausalLM]:
    """The base with the adapter on it, in eval mode. Raises AdapterInvalid where its tensors do not fit."""
    from peft import LoraConfig, PeftModel

    read = read_adapter_config(folder)
    config = LoraConfig(**read.model_dump(exclude_none=True, exclude={"peft_type"}))
    try:
        # Not with low_cpu_mem_usage: PEFT would round factors to the format of the frozen weights, and then widen them.
        model = PeftModel.from_pretrained(
            base.model, folder, config=config, is_trainable=False, torch_device=str(base.device)
        )
    except (RuntimeError, ValueError, KeyError) as error:
        detach_leftovers(base)
        raise AdapterInvalid(f"the adapter does not fit the base model: {str(error).splitlines()[0][:200]}") from error
    try:
        yield model.eval()
    finally:
        detach(base, model)


def detach_leftovers(base: LoadedBase) -> None:
    """After a load that broke off half-way: the wrapped layers give their linears back."""
    for name, module in list(base.model.named_modules()):
        if isinstance(layer := getattr(module, "base_layer", None), nn.Module):
            base.model.set_submodule(name, layer)
    if hasattr(base.model, "peft_config"):
        del base.model.peft_config
