"""A GGUF file becomes a base model's folder: once, then loading is quick."""

import json
import shutil
from pathlib import Path

import torch

from imprint_trainer.bases.gguf_tokenizer import read_tokenizer
from imprint_trainer.bases.gguf_weights import Gguf, open_gguf, read_model, reading
from imprint_trainer.bases.progress import CONVERTED, Progress, require_room
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import BaseModelInvalid, machine_failures
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.load import PREQUANTISED, load_base
from imprint_trainer.models.quantize import nf4_config
from imprint_trainer.publish.gguf import write_served
from imprint_trainer.publish.losses import neutral_window

SENSIBLE = 6.0  # nats a token of ordinary text: models that can be talked to lose 2 to 4, a wrong reading 8 and more


def convert(
    gguf: Path,
    out: Path,
    progress: Progress,
    *,
    title: str | None = None,
    licence: str | None = None,
    sensible: float = SENSIBLE,
) -> None:
    """Writes bf16 safetensors, tokenizer, chat template, in `nf4/` the quantised weights, and llama.cpp's file of them.
    The folder is there as a whole or not at all; nothing is done if it is there. `sensible`: the largest loss on
    ordinary text. Raises BaseModelNotFound without the file, BaseModelUnsupported for what is not read here,
    BaseModelInvalid."""
    if (out / "config.json").is_file():
        progress(f"{out.name} is there already")
        return
    if out.exists() and any(out.iterdir()):
        raise BaseModelInvalid(f"{out.name} exists and holds something else")
    file = open_gguf(gguf)
    require_room(out.parent, CONVERTED * sum(int(tensor.n_elements) for tensor in file.tensors.values()))
    staging = out.parent / f".making-{out.name}"
    shutil.rmtree(staging, ignore_errors=True)  # of one that was killed
    staging.mkdir(parents=True)
    try:
        with reading(gguf), machine_failures():
            _write(file, staging, progress, title=title or out.name, licence=licence)
            progress("trying it on ordinary text")
            require_sense(staging, sensible)
            write_served(staging, progress, name=out.name)
        if out.exists():
            out.rmdir()
        staging.replace(out)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _write(file: Gguf, out: Path, progress: Progress, *, title: str, licence: str | None) -> None:
    progress("reading the tokenizer")
    tokenizer = read_tokenizer(file)
    progress("reading the weights")
    model = read_model(file)
    if len(tokenizer) > model.config.vocab_size:
        raise BaseModelInvalid(f"{file.path.name} has more tokens than rows of embeddings")
    progress("writing bf16 safetensors")
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    _name_portable_tokenizer(out / "tokenizer_config.json")
    del model
    progress("quantising to NF4")
    _write_prequantised(out)
    licence = licence or file.field("general.license", None)
    (out / "README.md").write_text(
        (f"---\nlicense: {licence}\n---\n" if licence else "")
        + f"# {title}\n\nDequantised from the GGUF file {file.path.name}"
        + f" ({file.field('general.name', 'without a name')}); "
        "`nf4/` holds the same weights quantised to NF4 with double quantisation.\n",
        encoding="utf-8",
    )


def _name_portable_tokenizer(path: Path) -> None:
    """The class that transformers 4 (vLLM, LoRAX) and 5 both know."""
    config = json.loads(path.read_text(encoding="utf-8"))
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    config.pop("backend", None)
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


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


def require_sense(folder: Path, sensible: float) -> None:
    """Raises BaseModelInvalid for a model that ordinary text surprises as if it were noise: its weights or tokens were
    read in another order than they were trained in."""
    base = load_base(str(folder), device="cpu")
    window = neutral_window(base.tokenizer)
    first = base.tokenizer.bos_token_id
    begun = Window((first, *window.input_ids), (False, *window.supervised)) if first is not None else window
    # Some families cannot do without the token that begins a text, others were not trained with it.
    loss = min(mean_loss(base.model, [one], base.device) for one in (window, begun))
    if not loss < sensible:
        raise BaseModelInvalid(
            f"the model that was read makes no sense of ordinary text ({loss:.1f} nats a token): "
            "the file is damaged, or laid out in a way that is not known here"
        )
