"""The whole way of an adapter to its folder: written, loaded again, proved, described (training-data rule 9)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from imprint_trainer.data.holdout import HeldOut
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterInvalid, AdapterNotFinite, AdapterUnchanged
from imprint_trainer.files import list_files, write_json, write_text
from imprint_trainer.lora.adapter import Payload, update_norm
from imprint_trainer.lora.loss import interruptible, mean_loss, token_losses
from imprint_trainer.lora.within import PROOF_TOKENS
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.locate import read_json
from imprint_trainer.publish.card import licence_of, model_card
from imprint_trainer.publish.losses import (
    IMPRINT_TEXTS,
    WORSE,
    Readers,
    held_out_proof,
    neutral_loss,
    neutral_loss_of_base,
    readers,
)
from imprint_trainer.publish.peft_format import (
    CONFIG_FILE,
    WEIGHTS_FILE,
    attached,
    llama_cpp_accepts,
    vllm_accepts,
    write_weights,
)
from imprint_trainer.publish.probes import probes, readings, readings_of_base

IMPRINT_TOKENS = 4096  # of the windows that an imprint is calibrated and proved on


@dataclass(frozen=True)
class Imprint:
    """What the proof of an adapter that a hypernetwork made needs to know."""

    record: Mapping[str, Any]  # the contracts' `ImprintProof` without `neutral`
    loss_before: float  # of the windows that the proof reads
    readers: Readers  # those that measured it


def save_and_prove(
    folder: Path,
    payload: Payload,
    *,
    base: LoadedBase,
    windows: Sequence[Window],
    held_out: HeldOut | None = None,
    imprint: Imprint | None = None,
    record: Mapping[str, Any],
    card: Mapping[str, Any],
    on_proving: Callable[[], None],
    stop: Callable[[], None] = lambda: None,
    warnings: Sequence[str] = (),
    partial: Mapping[str, int] | None = None,
    remarks: Sequence[str] = (),
) -> dict[str, Any]:
    """The contracts' `JobResult`. `record` becomes training.json; `card` names adapter_id, base_model_name, method,
    task_type and payload_note. `partial`: `step` and `max_steps` of a training that did not end. `remarks`: for
    proof and card, beside the proof's own.

    `stop`, which is asked while it proves, raises Cancelled where the job was cancelled.

    Raises AdapterUnchanged, AdapterNotFinite, AdapterInvalid; the caller empties the folder then.
    """
    update_norm(payload)
    write_weights(folder, payload)
    on_proving()
    proof = prove(base, folder, windows, held_out, imprint=imprint, stop=stop)
    proof["remarks"] += remarks
    if partial is not None:
        proof["remarks"].append(
            f"Partial: salvaged after {partial['step']} of at most {partial['max_steps']} optimizer steps."
        )
    write_json(folder / "proof.json", proof)
    write_json(folder / "training.json", record)
    write_text(
        folder / "README.md",
        model_card(**card, record=record, proof=proof, base_licence=licence_of(base.folder), loaded_by=base.loaded_by),
    )
    return {
        "files": list_files(folder),
        "proof": proof,
        "rank": payload.rank,
        "alpha": payload.alpha,
        "warnings": list(warnings),
        **({} if partial is None else {"partial": dict(partial)}),
    }


def prove(
    base: LoadedBase,
    folder: Path,
    trained_on: Sequence[Window],
    held_out: HeldOut | None = None,
    *,
    imprint: Imprint | None = None,
    stop: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """The contracts' `Proof` of the adapter in `folder`, on windows it was made from and on what was held out.

    `stop` is asked before each window, and raises Cancelled where the job was cancelled.

    Raises AdapterInvalid where files and model disagree, AdapterNotFinite, AdapterUnchanged.
    """
    payload = Payload(load_file(folder / WEIGHTS_FILE), read_json(folder / CONFIG_FILE))
    norm = update_norm(payload)
    texts = IMPRINT_TEXTS if imprint else ("mixed",)
    chosen = sample(trained_on, IMPRINT_TOKENS if imprint else None)
    windows = [trained_on[index] for index in chosen]
    read, read_neutral, *_ = imprint.readers if imprint else readers(base, payload.first_block)
    before = imprint.loss_before if imprint else mean_loss(base.model, interruptible(windows, stop), base.device, read)
    tested = [window for _, window in held_out.windows] if held_out else []
    held_before = [token_losses(base.model, window, base.device, read)[0] for window in interruptible(tested, stop)]
    neutrals_before = [neutral_loss_of_base(base, name) for name in texts]
    said_before = readings_of_base(base, read_neutral)
    with attached(base, folder) as model:
        expected, matched = match_keys(model, payload)
        after = mean_loss(model, interruptible(windows, stop), base.device, read)
        held_after = [token_losses(model, window, base.device, read)[0] for window in interruptible(tested, stop)]
        neutrals_after = [neutral_loss(model, base.tokenizer, base.device, read_neutral, name=name) for name in texts]
        said_after = readings(model, base, read_neutral)
    neutral_before, neutral_after = fmean(neutrals_before), fmean(neutrals_after)
    check_losses(before, after, neutral_before, neutral_after)
    proved = held_out_proof(held_out, held_before, held_after) if held_out else None
    worse = [WORSE] if proved and proved["interval"][0] > 0 else []
    vllm, llama_cpp = vllm_accepts(payload), llama_cpp_accepts(payload)
    return {
        "supervised_tokens": sum(window.supervised_count for window in windows),
        "loss_before": before,
        "loss_after": after,
        "neutral_loss_before": neutral_before,
        "neutral_loss_after": neutral_after,
        "held_out": proved,
        "keys_expected": expected,
        "keys_matched": matched,
        "update_norm": norm,
        "accepted_by": {"peft": True, "vllm": vllm.accepted, "llama_cpp": llama_cpp.accepted},
        **(
            {"imprint": {**imprint.record, "neutral": compared(texts, neutrals_before, neutrals_after)}}
            if imprint
            else {}
        ),
        "probes": probes(base.tokenizer, said_before, said_after),
        "remarks": [*worse, *remark_on(chosen, trained_on), *vllm.remarks, *llama_cpp.remarks],
    }


def compared(names: Sequence[str], before: Sequence[float], after: Sequence[float]) -> list[dict[str, Any]]:
    return [
        {"name": name, "loss_before": one, "loss_after": other}
        for name, one, other in zip(names, before, after, strict=True)
    ]


def match_keys(model: Any, payload: Payload) -> tuple[int, int]:
    """How many adapter tensors the loaded model has, and how many of them hold what the file says.

    Raises AdapterInvalid unless all do.
    """
    from peft import get_peft_model_state_dict

    loaded: dict[str, Tensor] = get_peft_model_state_dict(model, save_embedding_layers=False)
    matched = [
        key
        for key, tensor in loaded.items()
        if key in payload.tensors and torch.equal(tensor.detach().cpu(), payload.tensors[key].to(tensor.dtype))
    ]
    if not loaded or len(matched) != len(loaded) or len(payload.tensors) != len(loaded):
        raise AdapterInvalid(
            f"{len(matched)} of {len(loaded)} adapter tensors came back from the files ({len(payload.tensors)} there)"
        )
    return len(loaded), len(matched)


def check_losses(before: float, after: float, neutral_before: float, neutral_after: float) -> None:
    if not all(torch.isfinite(torch.tensor([after, neutral_after]))):
        raise AdapterNotFinite("the loss with the adapter is not finite")
    if before == after and neutral_before == neutral_after:
        raise AdapterUnchanged("the losses with and without the adapter are equal")


def sample(windows: Sequence[Window], most_tokens: int | None = None) -> list[int]:
    """Indices, in order: the same ones for the same windows."""
    most = PROOF_TOKENS if most_tokens is None else most_tokens
    order = list(range(len(windows)))
    if sum(len(window.input_ids) for window in windows) > most:
        Random(0).shuffle(order)
    chosen: list[int] = []
    tokens = 0
    for index in order:
        tokens += len(windows[index].input_ids)
        if chosen and tokens > most:
            break
        chosen.append(index)
    return sorted(chosen)


def remark_on(chosen: Sequence[int], windows: Sequence[Window]) -> list[str]:
    """Which windows were read, counted from 1 as previews do; nothing where all were."""
    if len(chosen) == len(windows):
        return []
    numbers = ", ".join(str(index + 1) for index in chosen)
    return [f"Losses were measured on {len(chosen)} of {len(windows)} windows, drawn at random: {numbers}."]
