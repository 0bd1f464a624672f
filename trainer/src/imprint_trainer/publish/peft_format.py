"""An adapter's files in PEFT's format: written, read by an allow-list of settings, and put on the resident base.

vLLM and llama.cpp take them by the rules of their loaders, which are checked here.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import nn

from imprint_trainer.errors import AdapterInvalid, TrainerError
from imprint_trainer.files import sync, write_json
from imprint_trainer.lora.adapter import A, B, Factors, Payload, detach
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.models.locate import read_json

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"

MAX_CONFIG_BYTES = 1 << 20
Names = list[str] | str | None
VLLM_MAX_RANK = 512  # largest --max-lora-rank
VLLM_DEFAULT_RANK = 16
VLLM_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
LORA_KEY = re.compile(r"base_model\.model\..+\.lora_[AB]\.weight")
MODULE_PREFIX = "base_model.model."


class OutputNotEmptyError(TrainerError, FileExistsError):
    """The staging folder is somebody else's."""


def claim_folder(folder: Path) -> None:
    """An empty folder to write into, made if need be. Raises OutputNotEmptyError."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise OutputNotEmptyError("output_dir is not empty")


def empty_folder(folder: Path) -> None:
    """Removes what a job that failed has written."""
    for path in folder.iterdir() if folder.is_dir() else ():
        path.unlink(missing_ok=True)


def write_weights(folder: Path, payload: Payload) -> None:
    from safetensors.torch import save_file

    tensors = {key: payload.tensors[key] for key in sorted(payload.tensors)}
    save_file(tensors, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    (folder / WEIGHTS_FILE).chmod(0o644)
    sync(folder / WEIGHTS_FILE)
    write_json(folder / CONFIG_FILE, payload.config)


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
    return {
        key: item
        for key, item in value.items()
        if key in AdapterConfig.model_fields
        or not (key == "peft_version" or item in (None, False, {}, []) or item == peft_default(key))
    }


def peft_default(key: str) -> Any:
    from peft import LoraConfig  # takes a second

    return getattr(LoraConfig(), key, None)


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


@dataclass(frozen=True)
class Acceptance:
    accepted: bool
    remarks: tuple[str, ...]


def vllm_accepts(payload: Payload) -> Acceptance:
    """vLLM's PEFTHelper and LoRAModel: plain LoRA, no bias, no saved modules, a rank that --max-lora-rank can hold."""
    config = payload.config
    faults = [
        f"vLLM needs {name} in adapter_config.json."
        for name in ("r", "lora_alpha", "target_modules")
        if config.get(name) is None
    ]
    if config.get("modules_to_save"):
        faults.append("vLLM takes no modules_to_save.")
    if config.get("bias", "none") != "none" or config.get("use_dora"):
        faults.append("vLLM takes neither bias nor DoRA.")
    if payload.rank > VLLM_MAX_RANK:
        faults.append(f"vLLM takes ranks up to {VLLM_MAX_RANK}; this one is {payload.rank}.")
    faults += _foreign_keys("vLLM", payload)
    notes = []
    if not faults and payload.rank > VLLM_DEFAULT_RANK:
        needed = next(size for size in VLLM_RANKS if size >= payload.rank)
        notes.append(f"Start vLLM with --max-lora-rank {needed}: its default is {VLLM_DEFAULT_RANK}.")
    return Acceptance(not faults, (*faults, *notes))


def llama_cpp_accepts(payload: Payload) -> Acceptance:
    """convert_lora_to_gguf: nothing but lora_A and lora_B of layers that exist in the base model, and an alpha."""
    faults = _foreign_keys("llama.cpp", payload)
    if payload.config.get("lora_alpha") is None:
        faults.append("llama.cpp needs lora_alpha.")
    if payload.config.get("use_dora") or payload.config.get("use_rslora"):
        faults.append("llama.cpp takes neither DoRA nor rank-stabilised scaling.")
    return Acceptance(not faults, tuple(faults))


def _foreign_keys(consumer: str, payload: Payload) -> list[str]:
    foreign = [key for key in payload.tensors if not LORA_KEY.fullmatch(key)]
    return [f"{consumer} does not know the tensor {foreign[0]}."] if foreign else []


@dataclass(frozen=True)
class Source:
    """`layers` by the name of the layer in the base model, such as `model.layers.0.self_attn.q_proj`; their updates are
    `scale * B^T A`."""

    config: AdapterConfig
    layers: Mapping[str, Factors]

    @property
    def scale(self) -> float:
        rank = self.config.r**0.5 if self.config.use_rslora else self.config.r
        return float(self.config.lora_alpha / rank)


def read_source(folder: Path) -> Source:
    """Raises AdapterInvalid for files that are no plain LoRA adapter."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    config = read_adapter_config(folder)
    try:
        tensors = load_file(folder / WEIGHTS_FILE)
    except SafetensorError as error:
        raise AdapterInvalid(f"{WEIGHTS_FILE} cannot be read: {error}") from error
    layers = {}
    for key in sorted(key for key in tensors if key.endswith(A)):
        a, b = tensors[key].float(), tensors.get(key.removesuffix(A) + B)
        if not key.startswith(MODULE_PREFIX) or b is None or a.ndim != 2 or b.ndim != 2 or a.shape[0] != b.shape[1]:
            raise AdapterInvalid(f"{key} and its lora_B make no update")
        layers[key.removeprefix(MODULE_PREFIX).removesuffix(A)] = Factors(a, b.float().mT)
    if not layers or 2 * len(layers) != len(tensors):
        raise AdapterInvalid(f"{WEIGHTS_FILE} holds other tensors than pairs of lora_A and lora_B")
    return Source(config, layers)
