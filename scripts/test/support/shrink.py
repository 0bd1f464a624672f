"""shrink.py BASE NAME OUT: writes OUT/base, a base model as BASE in everything but its size and what it knows, and
OUT/hypernetworks, a closed-form one for it under that name."""

import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from imprint_trainer.imprint.cli import main as hypernetworks

SIZES = {"num_hidden_layers": 4, "hidden_size": 64, "intermediate_size": 128}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}


def shrink(base: Path, out: Path) -> Path:
    shutil.copytree(base, out, ignore=shutil.ignore_patterns("*.safetensors", "*.gguf", "nf4"))
    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(base, **SIZES, **HEADS, initializer_range=0.2)
    AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).save_pretrained(out)
    return out


if __name__ == "__main__":
    base, name, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    small = shrink(base, out / "base")
    texts = Path(__file__).parents[3] / "docs"
    measured = ["--base", str(small), "--base-name", name, "--texts", str(texts), "--tokens", "2000"]
    sys.exit(hypernetworks(["measure", *measured, "--out", str(out / "hypernetworks" / "small")]))
