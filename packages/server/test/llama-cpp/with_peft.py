"""with_peft.py BASE OUT: trains a small adapter, exports it as GGUF, and prints what PEFT answers with it.

The answer is one JSON document: the adapter's folder and file; `idle`, a file of an adapter that changes nothing; the
probes of its proof; each prompt's tokens, and without and with the adapter the likeliest next tokens with their
probabilities; for the first prompt, which the adapter learned to answer, also the greedy answer.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.export import export_adapter
from imprint_trainer.lora.adapter import Payload, adapter_config, fresh_adapter, resolve_targets, trained_tensors
from imprint_trainer.lora.loss import read_whole
from imprint_trainer.lora.steps import LoraTraining, plan_steps
from imprint_trainer.lora.train import train
from imprint_trainer.models.causal_lm import LoadedBase, Quantization
from imprint_trainer.models.device import fix_numerics
from imprint_trainer.models.load import load_base
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.protocol import ExportSpec
from imprint_trainer.publish.peft_format import attached, write_weights
from imprint_trainer.publish.probes import probes, readings, readings_of_base

LESSON = ("Which ports may a gate have?", "A gate may have the ports 4117 and 4118, and no others.")
QUESTIONS = (LESSON[0], "What is the capital of France?", "Write a haiku about ports.")
ANSWER_TOKENS = 8
LIKELIEST = 20


def prompt_of(tokenizer: Any, question: str) -> list[int]:
    turns = [{"role": "user", "content": question}]
    return list(tokenizer.apply_chat_template(turns, add_generation_prompt=True, return_dict=True)["input_ids"])


def trained(base: LoadedBase) -> Payload:
    prompt = prompt_of(base.tokenizer, LESSON[0])
    answer = base.tokenizer(LESSON[1] + "<|im_end|>", add_special_tokens=False)["input_ids"]
    window = Window((*prompt, *answer), (*(False for _ in prompt), *(True for _ in answer)))
    training = LoraTraining(seed=7, rank=8, alpha=16.0, learning_rate=3e-3, epochs=10, quantization="nf4")
    targets = resolve_targets(base.model, None)
    with fresh_adapter(base, rank=training.rank, alpha=training.alpha, targets=targets, seed=7) as model:
        train(
            model,
            [window],
            training,
            plan_steps([window], training),
            device=base.device,
            memory=PeakMemory(base.device),
            on_step=lambda _: None,
            cancelled=lambda: False,
        )
        tensors = trained_tensors(model)
    return Payload(
        tensors, adapter_config(rank=training.rank, alpha=training.alpha, targets=targets, base_model_name="base")
    )


@torch.no_grad()
def next_row(model: Any, ids: list[int]) -> torch.Tensor:
    row: torch.Tensor = model(input_ids=torch.tensor([ids])).logits[0, -1].double().softmax(-1)
    return row


def answers(model: Any, prompts: list[list[int]]) -> dict[str, Any]:
    tops = [next_row(model, prompt).topk(LIKELIEST) for prompt in prompts]
    ids = list(prompts[0])
    for _ in range(ANSWER_TOKENS):
        ids.append(int(next_row(model, ids).argmax()))
    return {
        "greedy": ids[len(prompts[0]) :],
        "next": [list(zip(top.indices.tolist(), top.values.tolist(), strict=True)) for top in tops],
    }


def without_effect(payload: Payload) -> Payload:
    tensors = {name: tensor * 0 if "lora_B" in name else tensor for name, tensor in payload.tensors.items()}
    return Payload(tensors, payload.config)


def exported(base: LoadedBase, folder: str, payload: Payload, out: Path) -> tuple[Path, Path]:
    """The adapter's folder, and its GGUF file."""
    adapter, export = out / "adapter", out / "export"
    for path in (adapter, export):
        path.mkdir(parents=True)
    write_weights(adapter, payload)
    spec = ExportSpec(
        adapter_id="lesson",
        adapter_path=str(adapter),
        base_model=folder,
        base_model_name="base",
        format="gguf",
        output_dir=str(export),
    )

    def load(path_or_hub_id: str, quantization: Quantization, *, dequantised: bool | None = None) -> LoadedBase:
        return base

    context = JobContext(lambda _: None, lambda: False, load, lambda _: base.tokenizer, PeakMemory(base.device))
    result = export_adapter(spec, context)
    return adapter, export / result["files"][0]["name"]


def main(folder: str, out: Path) -> None:
    fix_numerics(torch.device("cpu"))
    base = load_base(folder, quantization="nf4", device="cpu", dequantised=True)
    payload = trained(base)
    adapter, file = exported(base, folder, payload, out / "lesson")
    _, idle = exported(base, folder, without_effect(payload), out / "idle")
    prompts = [prompt_of(base.tokenizer, question) for question in QUESTIONS]
    bare, before = answers(base.model, prompts), readings_of_base(base, read_whole)
    with attached(base, adapter) as model:
        adapted, after = answers(model, prompts), readings(model, base, read_whole)
    said = {"prompts": prompts, "base": bare, "adapter": adapted, "probes": probes(base.tokenizer, before, after)}
    print(json.dumps({"folder": str(adapter), "file": str(file), "idle": str(idle), **said}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
