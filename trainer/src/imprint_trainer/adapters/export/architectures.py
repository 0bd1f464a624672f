"""How llama.cpp lays out the models of a family: its name for the architecture, and the order of Q's and K's rows."""

from dataclasses import dataclass

from imprint_trainer.errors import ExportUnsupported


@dataclass(frozen=True)
class Architecture:
    """`interleaved`: llama.cpp's converter reorders the rows of q_proj and k_proj for its rotary embedding."""

    name: str
    interleaved: bool


# By `model_type` of config.json, as llama.cpp's convert_hf_to_gguf.py treats them.
ARCHITECTURES = {
    "llama": Architecture("llama", interleaved=True),
    "mistral": Architecture("llama", interleaved=True),
    "smollm3": Architecture("smollm3", interleaved=True),
    "granite": Architecture("granite", interleaved=True),
    "qwen2": Architecture("qwen2", interleaved=False),
    "qwen3": Architecture("qwen3", interleaved=False),
    "gemma": Architecture("gemma", interleaved=False),
    "gemma2": Architecture("gemma2", interleaved=False),
    "gemma3_text": Architecture("gemma3", interleaved=False),
    "phi3": Architecture("phi3", interleaved=False),
}


def architecture_of(model_type: str) -> Architecture:
    """Raises ExportUnsupported for a family whose layout is not known here."""
    if model_type not in ARCHITECTURES:
        known = ", ".join(sorted(ARCHITECTURES))
        raise ExportUnsupported(f"GGUF export knows the model types {known}; this base model is {model_type}")
    return ARCHITECTURES[model_type]
