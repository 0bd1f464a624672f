"""What a LoRA training of a decoder of the Llama family takes, predicted from config.json: docs/training.md.

Imports no torch: previews and the command line predict with it too. MB are 10^6 bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from imprint_trainer.models.device import Device, multiplies_bf16

Quantization = Literal["nf4", "none"]

MB = 1e6
FP32, BF16 = 4, 2  # bytes
NF4 = 0.5 + 1 / 64 + 4 / (64 * 256)  # bytes a weight: QLoRA, section 3, with double quantisation
FIXED_MB: Mapping[Device, float] = {"cpu": 950.0, "cuda": 0.0}  # the libraries; on CUDA the card's memory alone counts
LOGIT_COPIES = 3  # logits, their exponentials, and what the head multiplies by
HEAP, LARGEST_ON_HEAP = (
    1.75,
    32 * 2**20,
)  # fitted on one training: docs/training.md; mallopt(3): M_MMAP_THRESHOLD at most
HEADROOM_MB = 2.0 * 2**30 / MB
SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")
# Families whose attention is not fused, by `model_type`: each head's table of n x n numbers is kept.
EAGER = ("flint", "gemma2", "granite_swa", "hy_v4", "vaultgemma")
ATTENTION = ("full_attention", "sliding_attention", "chunked_attention")
USUAL_WINDOW, LEAST_RANK = 1024, 4
# Supervised positions whose logits exist at one time: a card is idle between small ones.
HEAD_CHUNK: Mapping[Device, int] = {"cpu": 128, "cuda": 512}
ROOM = 0.85  # of what is available, for what is chosen: the model errs by up to 15 %
WINDOWS = (
    256,
    384,
    512,
    768,
    1024,
    1536,
    2048,
    3072,
    4096,
    6144,
    8192,
    12288,
    16384,
    24576,
    32768,
    49152,
    65536,
    131072,
)


@dataclass(frozen=True)
class Shape:
    """The sizes of a decoder. `tied`: the output head is the embedding."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocabulary: int
    tied: bool
    positions: int  # most tokens that it was made for
    eager: bool = False

    @property
    def linears(self) -> Mapping[str, tuple[int, int]]:
        """In and out of the linear layers of a block, by the last part of their names."""
        q, kv = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return {
            "q_proj": (self.hidden, q),
            "k_proj": (self.hidden, kv),
            "v_proj": (self.hidden, kv),
            "o_proj": (q, self.hidden),
            "gate_proj": (self.hidden, self.intermediate),
            "up_proj": (self.hidden, self.intermediate),
            "down_proj": (self.intermediate, self.hidden),
        }


def shape_of(config: Mapping[str, Any]) -> Shape | None:
    """Of what config.json holds; None where it does not name the sizes of one attention and one MLP a block."""
    text: Mapping[str, Any] = config.get("text_config") or config
    if not names_sizes(config) or has_experts(config) or is_hybrid(text):
        return None
    heads = int(text["num_attention_heads"])
    return Shape(
        hidden=int(text["hidden_size"]),
        layers=int(text["num_hidden_layers"]),
        heads=heads,
        kv_heads=int(text.get("num_key_value_heads") or heads),
        head_dim=int(text.get("head_dim") or text["hidden_size"] // heads),
        intermediate=int(text["intermediate_size"]),
        vocabulary=int(text["vocab_size"]),
        tied=bool(text.get("tie_word_embeddings", config.get("tie_word_embeddings", True))),
        positions=int(text.get("max_position_embeddings") or WINDOWS[-1]),
        eager=text.get("model_type") in EAGER,
    )


def names_sizes(config: Mapping[str, Any]) -> bool:
    return all(key in (config.get("text_config") or config) for key in SIZES)


def is_hybrid(text: Mapping[str, Any]) -> bool:
    """Some of its layers mix tokens by other means than attention."""
    return any(key.startswith(("mamba", "ssm_", "lru_")) for key in text) or any(
        kind not in ATTENTION for kind in text.get("layer_types") or ()
    )


def has_experts(config: Mapping[str, Any]) -> bool:
    """Of what config.json holds: several MLPs a block, of which a token passes some."""
    text: Mapping[str, Any] = config.get("text_config") or config
    kinds = text.get("layers_block_type") or text.get("layer_types")
    if text.get("model_type") == "nemotron_h" and kinds:  # a layer is one of several kinds, experts or none of them
        return "moe" in kinds
    return any(key.endswith("experts") and isinstance(n, int) and n > 1 for key, n in text.items())


@dataclass(frozen=True)
class Setting:
    """What of a training decides its memory. `length`: tokens of its longest window."""

    length: int
    rank: int = 16
    target_modules: tuple[str, ...] | None = None  # None: every linear layer but the output head
    quantization: Quantization = "nf4"
    dequantised: bool = True  # NF4: held as plain numbers
    native_bf16: bool = field(default_factory=multiplies_bf16)  # of a CPU: those plain numbers are bf16, else fp32
    checkpointing: bool = False
    device: Device = "cpu"

    @property
    def four_bit(self) -> bool:
        return self.quantization == "nf4" and not self.dequantised

    @property
    def element(self) -> int:
        """Bytes of a number of the embeddings and activations."""
        return FP32 if self.device == "cpu" else BF16

    @property
    def linear_element(self) -> float:
        """Bytes of a number of the frozen linear layers."""
        if self.four_bit:
            return NF4
        return BF16 if self.quantization == "nf4" and self.native_bf16 else self.element

    @property
    def wide_element(self) -> int:
        """Bytes of a number of the two wide activations of an MLP that lora/kernels.py keeps."""
        return BF16 if self.linear_element == BF16 else self.element

    @property
    def low_memory(self) -> bool:
        """Whether freed tensors are given back at once, memory before speed: models/memory.py."""
        return self.device == "cpu" and (self.checkpointing or self.four_bit)


@dataclass(frozen=True)
class Memory:
    """MB at the peak of a training."""

    fixed: float  # the process itself
    weights: float  # of the frozen base
    activations: float
    optimizer: float  # factors, their gradients, AdamW's two moments
    logits: float

    @property
    def total(self) -> float:
        return self.fixed + self.weights + self.activations + self.optimizer + self.logits


def predict(shape: Shape, setting: Setting) -> Memory:
    factors = FP32 * lora_parameters(shape, setting)
    return Memory(
        fixed=FIXED_MB[setting.device],
        weights=weight_bytes(shape, setting) / MB,
        activations=activation_bytes(shape, setting) / MB,
        optimizer=4 * factors / MB,
        logits=LOGIT_COPIES * HEAD_CHUNK[setting.device] * shape.vocabulary * FP32 / MB,
    )


def lora_parameters(shape: Shape, setting: Setting) -> int:
    """A [r, in] and B [out, r] of each adapted layer."""
    return shape.layers * sum(
        setting.rank * (wide + high) for name, (wide, high) in shape.linears.items() if adapted(name, setting)
    )


def adapted(name: str, setting: Setting) -> bool:
    return setting.target_modules is None or any(target.split(".")[-1] == name for target in setting.target_modules)


def weight_bytes(shape: Shape, setting: Setting) -> float:
    embeddings = shape.vocabulary * shape.hidden * (1 if shape.tied else 2)
    return linear_weights(shape) * setting.linear_element + embeddings * setting.element


def linear_weights(shape: Shape) -> int:
    return shape.layers * sum(wide * high for wide, high in shape.linears.values())


def activation_bytes(shape: Shape, setting: Setting) -> float:
    """At the beginning of the backward pass: what is kept of every block, and what the last one makes meanwhile."""
    element, d, f = setting.element, shape.hidden, shape.intermediate
    kept = block_bytes(shape, setting)
    blocks = shape.layers * held(d, element, setting) + kept if setting.checkpointing else shape.layers * kept
    wide = 6 if setting.wide_element < element else 4  # what was kept in bf16 is widened once more
    passing = wide * held(f, element, setting) + 2 * held(d, element, setting)
    passing += 3 * held(table_width(shape, setting), FP32, setting)
    return (
        blocks + passing + 4 * held(d, element, setting)
    )  # the final norm's input and output, the head's, its gradient


def block_bytes(shape: Shape, setting: Setting) -> float:
    """Kept for the backward pass of a block by lora/kernels.py."""
    d, f, q, kv = shape.hidden, shape.intermediate, shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    element = setting.element
    kept = sum(held(width, element, setting) for width in [d] * 4 + [q] * 2 + [kv] * 2)
    kept += held(shape.heads, FP32, setting) + 7 * held(setting.rank, FP32, setting)
    kept += 2 * held(table_width(shape, setting), FP32, setting)
    return kept + 2 * held(f, setting.wide_element, setting)


def table_width(shape: Shape, setting: Setting) -> int:
    """Of the tables of all heads together, where attention keeps them."""
    return shape.heads * setting.length if shape.eager else 0


def held(width: int, element: int, setting: Setting) -> float:
    """Bytes of a tensor [length, width], with what glibc cannot give back between small ones on a CPU."""
    size = setting.length * width * element
    return size * HEAP if setting.device == "cpu" and not setting.low_memory and size <= LARGEST_ON_HEAP else size


def longest_window(
    config: Mapping[str, Any],
    available_mb: float,
    *,
    rank: int = 16,
    target_modules: Sequence[str] | None = None,
    quantization: Quantization = "nf4",
    device: Device = "cpu",
) -> int:
    """Tokens of the longest of WINDOWS that the base model was made for and that fits into `available_mb`, of all that
    the process may hold, with checkpointing where it must. The shortest of them where none fits; 1,024 where no sizes
    are named."""
    shape = shape_of(config)
    if shape is None:
        return USUAL_WINDOW
    targets = None if target_modules is None else tuple(target_modules)
    setting = Setting(
        0,
        rank,
        targets,
        quantization,
        dequantised=dequantised_fits(shape, available_mb, device),
        checkpointing=True,
        device=device,
    )
    made_for = [length for length in WINDOWS if length <= shape.positions] or [WINDOWS[0]]
    fitting = [n for n in made_for if predict(shape, replace(setting, length=n)).total <= ROOM * available_mb]
    return max(fitting, default=made_for[0])


def dequantised_fits(shape: Shape, available_mb: float, device: Device = "cpu") -> bool:
    """What models/quantize.py decides when the base is loaded."""
    linears = Setting(0, device=device).linear_element * linear_weights(shape) / MB
    return available_mb - FIXED_MB[device] >= 2 * linears + HEADROOM_MB


def plan_memory(shape: Shape, setting: Setting, available_mb: float) -> tuple[Setting, dict[str, Any]]:
    """The setting with checkpointing where it must be, and the contracts' `MemoryPlan` of it."""
    plain = predict(shape, setting)
    chosen = setting if plain.total <= ROOM * available_mb else replace(setting, checkpointing=True)
    memory = predict(shape, chosen)
    fits = memory.total <= available_mb
    return chosen, {
        "weights_mb": round(memory.weights),
        "activations_mb": round(memory.activations),
        "optimizer_mb": round(memory.optimizer),
        "logits_mb": round(memory.logits),
        "total_mb": round(memory.total),
        "available_mb": round(available_mb),
        "fits": fits,
        "suggestion": None if fits else suggestion(shape, chosen, available_mb),
    }


def suggestion(shape: Shape, setting: Setting, available_mb: float) -> str:
    """The nearest setting that fits, in the order of `nearer`."""
    for nearest in nearer(setting):
        memory = predict(shape, nearest)
        if memory.total <= ROOM * available_mb:
            changes = [
                f"{name} {value}"
                for name, before, value in (
                    ("quantization", setting.quantization, nearest.quantization),
                    ("max_length", setting.length, nearest.length),
                    ("rank", setting.rank, nearest.rank),
                )
                if before != value
            ]
            return f"It fits with {' and '.join(changes)}: {gigabytes(memory.total)} of {gigabytes(available_mb)}."
    smallest = replace(setting, length=WINDOWS[0], rank=LEAST_RANK, quantization="nf4", dequantised=False)
    least = predict(shape, smallest)
    return (
        f"No setting fits: the least takes {gigabytes(least.total)}. "
        f"Take a smaller base model, or a machine with {gigabytes(least.total / ROOM)} free."
    )


def nearer(setting: Setting) -> Iterator[Setting]:
    """What to give up, the least loss first: full precision of the base, windows longer than 1,024 tokens, rank, the
    rest of the window. Checkpointing, which costs time alone, is chosen before any of them."""
    if setting.quantization == "none":
        setting = replace(setting, quantization="nf4", dequantised=False)
        yield setting
    for length in reversed([n for n in WINDOWS if USUAL_WINDOW <= n < setting.length]):
        setting = replace(setting, length=length)
        yield setting
    while setting.rank > LEAST_RANK:
        setting = replace(setting, rank=max(LEAST_RANK, setting.rank // 2))
        yield setting
    for length in reversed([n for n in WINDOWS if n < min(setting.length, USUAL_WINDOW)]):
        yield replace(setting, length=length)


def gigabytes(mb: float) -> str:
    return f"{mb / 1000:.1f} GB"
