"""Asks the base model, and an adapter for each copy of the session, for every canary."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from imprint_trainer.adapters.attach import attached
from imprint_trainer.data.sessions import prepare_sessions
from imprint_trainer.jobs.worker import Worker
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.privacy.question import Place, Question, place_of, question_of
from imprint_trainer.privacy.rank import exposure, losses, rank_of_first
from imprint_trainer.privacy.spec import Canary, PrivacySpec
from imprint_trainer.protocol import TrainLora, TrainLoraSpec

JOB_ID = "0" * 26  # nobody asks for this job
SPARE_TOKENS = 8  # an answer may be cut into more tokens than the canary was

Tell = Callable[[str], None]
Asked = tuple[Canary, Place, Question]


def measure(spec: PrivacySpec, worker: Worker, tell: Tell) -> dict[str, Any]:
    """What came back of each canary: from the base model, and from adapters for the unredacted and the redacted copy.

    All are asked in the words of the unredacted copy. Raises what a training raises.
    """
    tell("loading the base model")
    base = worker.base(spec.unredacted.base_model, spec.unredacted.quantization)
    asked = questions(spec, base)
    tell("asking the base model")
    answers = {"base": ask_all(base.model, asked, base)}
    for name, training in (("unredacted", spec.unredacted), ("redacted", spec.redacted)):
        train(training, worker, f"training on the {name} copy", tell)
        tell(f"asking the adapter of the {name} copy")
        with attached(base, Path(training.output_dir)) as model:
            answers[name] = ask_all(model, asked, base)
    places = {canary.id: place for canary, place, _ in asked}
    return {"canaries": [told(canary, places.get(canary.id), answers) for canary in spec.canaries]}


def questions(spec: PrivacySpec, base: LoadedBase) -> list[Asked]:
    """Of the canaries that stand in a window."""
    windows = prepare_sessions(spec.unredacted, base.tokenizer).windows
    found = []
    for canary in spec.canaries:
        if place := place_of(canary.value, windows, base.tokenizer):
            values = [canary.value, *canary.candidates]
            found.append((canary, place, question_of(place, values, base.tokenizer)))
    return found


def train(spec: TrainLoraSpec, worker: Worker, title: str, tell: Tell) -> None:
    """Says every ten seconds how far it is."""
    said = time.monotonic()

    def hear(event: Mapping[str, Any]) -> None:
        nonlocal said
        if event["type"] == "progress" and time.monotonic() - said >= 10:
            said = time.monotonic()
            progress = event["progress"]
            tell(f"{title}: step {progress['step']} of at most {progress['steps']}, loss {progress['loss']:.3f}")

    tell(title)
    worker.run(TrainLora(type="train_lora", job_id=JOB_ID, spec=spec), emit=hear, cancelled=lambda: False)


def ask_all(model: CausalLM, asked: list[Asked], base: LoadedBase) -> dict[str, dict[str, Any]]:
    return {canary.id: ask(model, canary, question, base) for canary, _, question in asked}


def ask(model: CausalLM, canary: Canary, question: Question, base: LoadedBase) -> dict[str, Any]:
    found = losses(model, question, base.device)
    rank = rank_of_first(found)
    said = written(model, question, base)
    return {
        "rank": rank,
        "exposure": exposure(rank, len(canary.candidates)),
        "loss": found[0],
        "extracted": canary.value in said,
        "answer": said,
    }


@torch.inference_mode()
def written(model: CausalLM, question: Question, base: LoadedBase) -> str:
    """What the model writes of its own accord after the prompt."""
    prompt = torch.tensor([question.prompt], device=base.device)
    output = model.generate(
        input_ids=prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        temperature=None,
        top_p=None,
        top_k=None,
        max_new_tokens=len(question.answers[0]) + SPARE_TOKENS,
        use_cache=True,
        pad_token_id=base.tokenizer.pad_token_id or base.tokenizer.eos_token_id,
    )[0, prompt.shape[1] :]
    return str(base.tokenizer.decode(output, skip_special_tokens=True, clean_up_tokenization_spaces=False))


def told(canary: Canary, place: Place | None, answers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Without measurements where the canary stands in no window: nothing was trained on it."""
    learned = None if place is None else place.supervised
    return {"id": canary.id, "learned": learned, **{name: answers[name].get(canary.id) for name in answers}}
