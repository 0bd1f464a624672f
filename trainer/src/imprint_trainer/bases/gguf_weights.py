"""Configuration and weights of a GGUF file as transformers holds them: what llama.cpp's converters did, undone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.errors import (
    BaseModelInvalid,
    BaseModelNotFound,
    BaseModelUnsupported,
    ExportUnsupported,
    TrainerError,
)
from imprint_trainer.models.load import first_line
from imprint_trainer.publish.gguf import Architecture, architecture_of, rotated_heads, separate_halves, stored_name

# `general.architecture` -> `model_type` of config.json. Mistral's files call themselves llama.
MODEL_TYPES = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma3": "gemma3_text", "granite": "granite"}
ROPE_FACTORS = "rope_freqs.weight"
REQUIRED = object()


@dataclass(frozen=True)
class Gguf:
    path: Path
    reader: Any
    tensors: dict[str, Any]

    def field(self, key: str, default: Any = REQUIRED) -> Any:
        """Raises BaseModelInvalid where a field is missing that has no default."""
        found = self.reader.get_field(key)
        if found is None and default is REQUIRED:
            raise BaseModelInvalid(f"{self.path.name} does not say {key}")
        return default if found is None else found.contents()

    @property
    def architecture(self) -> str:
        return str(self.field("general.architecture"))

    def shape(self, key: str, default: Any = REQUIRED) -> Any:
        """A field of the architecture, the same number for every layer. Raises BaseModelUnsupported too."""
        value = self.field(f"{self.architecture}.{key}", default)
        if isinstance(value, list):
            raise BaseModelUnsupported(f"{self.path.name}: {key} differs between layers")
        return value


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raises BaseModelInvalid for whatever the libraries that read a damaged file raise, which may be anything."""
    try:
        yield
    except (TrainerError, MemoryError):
        raise
    except Exception as error:
        raise BaseModelInvalid(f"{path.name} cannot be read as GGUF: {first_line(error)}") from error


def open_gguf(path: Path) -> Gguf:
    """Raises BaseModelNotFound, BaseModelInvalid for what is no whole GGUF file, BaseModelUnsupported for a family."""
    from gguf import GGUFReader, GGUFValueType

    class Reader(GGUFReader):  # type: ignore[misc]
        def _get_field_parts(self, orig_offs: int, raw_type: int) -> Any:
            # Of a damaged list the library reads entries on behind the file's end, until no memory is left
            if raw_type == GGUFValueType.ARRAY and (length := self._get(orig_offs + 4, "u8")[0]) > 2**21:
                raise ValueError(f"a list of {length} entries, more than any vocabulary has")
            return super()._get_field_parts(orig_offs, raw_type)

    if not path.is_file():
        raise BaseModelNotFound(f"there is no GGUF file {path.name}")
    with reading(path):
        reader = Reader(path)
        file = Gguf(path, reader, {tensor.name: tensor for tensor in reader.tensors})
        if file.architecture not in MODEL_TYPES:
            known = ", ".join(sorted(MODEL_TYPES))
            raise BaseModelUnsupported(f"{path.name} is of the family {file.architecture}, and GGUF is read of {known}")
        blocks = file.shape("block_count")
        if blocks > len(file.tensors):
            raise BaseModelInvalid(f"{path.name} claims {blocks} blocks and holds {len(file.tensors)} tensors")
        if int(file.shape("expert_count", 0)) > 0:
            raise BaseModelUnsupported(f"{path.name} is a mixture of experts, which are not trained here")
    return file


def config_of(file: Gguf) -> Any:
    """Of transformers. Raises BaseModelInvalid, BaseModelUnsupported."""
    from transformers import AutoConfig

    hidden, heads = file.shape("embedding_length"), file.shape("attention.head_count")
    head_dim = file.shape("attention.key_length", None) or file.shape("rope.dimension_count", None) or hidden // heads
    if file.shape("rope.dimension_count", head_dim) != head_dim:
        raise BaseModelUnsupported(f"{file.path.name} rotates a part of each head alone")
    tokens = {
        f"{name}_token_id": file.field(f"tokenizer.ggml.{key}_token_id", None)
        for name, key in {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}.items()
    }
    settings = {
        "_model_name_or_path": file.field("general.name", file.path.stem),
        "vocab_size": int(file.tensors["token_embd.weight"].shape[1]),
        "hidden_size": hidden,
        "intermediate_size": file.shape("feed_forward_length"),
        "num_hidden_layers": file.shape("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": file.shape("attention.head_count_kv", heads),
        "head_dim": head_dim,
        "max_position_embeddings": file.shape("context_length"),
        "rms_norm_eps": file.shape("attention.layer_norm_rms_epsilon"),
        "rope_parameters": rope_of(file, head_dim),
        "tie_word_embeddings": "output.weight" not in file.tensors,
        **{name: token for name, token in tokens.items() if token is not None},
        **extras(file, hidden // heads, head_dim),
    }
    return AutoConfig.for_model(MODEL_TYPES[file.architecture], **settings)


def extras(file: Gguf, width: int, head_dim: int) -> dict[str, Any]:
    """What one family alone says."""
    if file.architecture == "granite":
        return {
            "embedding_multiplier": file.shape("embedding_scale", 1.0),
            "residual_multiplier": file.shape("residual_scale", 1.0),
            "attention_multiplier": file.shape("attention.scale", head_dim**-0.5),
            "logits_scaling": file.shape("logit_scale", 1.0),
            "attention_bias": "blk.0.attn_q.bias" in file.tensors,
        }
    if file.architecture == "gemma3":
        largest = file.shape("block_count") == 62  # 27B, which scales by the width of a head without its padding
        return {
            "sliding_window": file.shape("attention.sliding_window"),
            "query_pre_attn_scalar": width if largest else head_dim,
            "final_logit_softcapping": file.shape("final_logit_softcapping", None),
        }
    return {"attention_bias": True} if file.architecture == "llama" and "blk.0.attn_q.bias" in file.tensors else {}


def rope_of(file: Gguf, head_dim: int) -> dict[str, Any]:
    """`rope_parameters` of config.json."""
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": float(file.shape("rope.freq_base", 10000.0))}
    kind = file.shape("rope.scaling.type", "none")
    if ROPE_FACTORS in file.tensors:
        rope = llama3_rope(file, rope["rope_theta"], head_dim)
    elif kind == "linear":
        rope |= {"rope_type": "linear", "factor": float(file.shape("rope.scaling.factor"))}
    elif kind != "none":
        raise BaseModelUnsupported(f"{file.path.name} scales its positions by {kind}")
    if file.architecture != "gemma3":
        return rope
    near = {"rope_type": "default", "rope_theta": float(file.shape("rope.freq_base_swa", 10000.0))}
    return {"sliding_attention": near, "full_attention": rope}


def llama3_rope(file: Gguf, theta: float, head_dim: int) -> dict[str, Any]:
    """Llama 3.1's scaling, of which a file stores the factor of each frequency. Raises BaseModelUnsupported."""
    from transformers import AutoConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    factors = values_of(file.tensors[ROPE_FACTORS]).flatten()
    rope = {
        "rope_type": "llama3",
        "rope_theta": theta,
        "factor": float(factors.max()),
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    config = AutoConfig.for_model("llama", head_dim=head_dim, max_position_embeddings=2**17, rope_parameters=rope)
    scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, torch.device("cpu"))
    plain = 1.0 / theta ** (torch.arange(0, head_dim, 2).float() / head_dim)
    if factors.shape != scaled.shape or not torch.allclose(plain / scaled, factors, rtol=1e-3):
        raise BaseModelUnsupported(f"{file.path.name} scales its positions in another way than Llama 3.1")
    return rope


def values_of(tensor: Any) -> Tensor:
    """fp32, in the order of rows and columns."""
    import gguf

    return torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy())


def read_model(file: Gguf) -> Any:
    """A transformers model in bf16; its buffers stay empty. Raises BaseModelInvalid, BaseModelUnsupported."""
    from transformers import AutoModelForCausalLM

    config = config_of(file)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    architecture, state = architecture_of(config.model_type), {}
    left = set(file.tensors) - {ROPE_FACTORS}
    for key, wanted in model.state_dict().items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        name = name_of(key, architecture, config)
        if name not in left:
            raise BaseModelInvalid(f"{file.path.name} has no tensor {name}")
        left.remove(name)
        weight = weight_of(file, name, key, config)
        if weight.shape != wanted.shape:
            raise BaseModelInvalid(f"{name} of {file.path.name} is {list(weight.shape)}, not {list(wanted.shape)}")
        state[key] = weight.to(torch.bfloat16)
    if left:
        raise BaseModelUnsupported(f"{file.path.name} has a tensor {min(left)}; {config.model_type} has none")
    model.load_state_dict(state, assign=True, strict=False)
    model.tie_weights()
    return model


def name_of(key: str, architecture: Architecture, config: Any) -> str:
    try:
        return stored_name(key, architecture, config)
    except ExportUnsupported as error:
        raise BaseModelUnsupported(error.message) from error


def weight_of(file: Gguf, name: str, key: str, config: Any) -> Tensor:
    weight = values_of(file.tensors[name])
    heads = rotated_heads(key.rsplit(".", 1)[0], config)
    if heads is not None and architecture_of(config.model_type).interleaved:
        return separate_halves(weight.reshape(weight.shape[0], -1), heads).reshape(weight.shape)
    # Gemma's norms multiply by one more than what is stored; llama.cpp stores the sum.
    return weight - 1 if file.architecture == "gemma3" and name.endswith("norm.weight") else weight
