"""Checkpoints: adapter, optimizer and random state as safetensors, the rest as JSON, whole or not at all."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor, nn

from imprint_trainer.errors import CheckpointInvalid
from imprint_trainer.files import sha256_of, sync, write_json
from imprint_trainer.lora.schedule import Schedule
from imprint_trainer.models.causal_lm import CausalLM

MAX_BYTES = 64 * 2**20

Model = TypeVar("Model", bound=BaseModel)

OPTIMIZER = "optimizer."
STATE = "checkpoint.json"
FORMAT = 2  # stepped when a field that is stored comes to mean something else
WEIGHTS = re.compile(r"checkpoint-[0-9]{7}\.safetensors")
ADAPTER = "adapter."
BEST = "best."  # the adapter that is kept: Schedule.keeps
RNG = "rng."
SLOTS = ("step", "exp_avg", "exp_avg_sq")  # AdamW's
LARGEST_SHARE = 0.02  # of a training's time


class State(BaseModel):
    """checkpoint.json: renamed into place last, it says which weights are meant."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    format: int
    step: int = Field(ge=1)
    max_steps: int
    weights: str
    sha256: str
    identity: dict[str, Any]  # what decides the numbers: see jobs/resume.py
    made_with: dict[str, Any]  # device, number format, threads, versions: others may change the last bits
    loss_sums: list[float]  # of each step: see schedule.py
    held_out_losses: list[float] = []
    neutral_rises: list[float] = []


@dataclass(frozen=True)
class Checkpoint:
    state: State
    tensors: Mapping[str, Tensor]

    @property
    def best(self) -> dict[str, Tensor]:
        """The adapter that is kept, by the names of its parameters; empty where none is yet."""
        return self.named(BEST)

    def named(self, prefix: str) -> dict[str, Tensor]:
        """The tensors whose keys begin so, without it."""
        return {key.removeprefix(prefix): tensor for key, tensor in self.tensors.items() if key.startswith(prefix)}


@dataclass
class CheckpointWriter:
    """Writes into `folder` every `seconds`, less often where writing would take more than its share of the time."""

    folder: Path
    seconds: float
    device: torch.device
    identity: Mapping[str, Any]
    made_with: Mapping[str, Any]
    on_written: Callable[[int], None]  # with the step
    clock: Callable[[], float] = time.perf_counter
    _written: int = 0  # step
    _due: float = field(init=False)

    def __post_init__(self) -> None:
        self._due = self.clock() + self.seconds

    def after_step(
        self, model: CausalLM, optimizer: torch.optim.Optimizer, schedule: Schedule, best: Mapping[str, Tensor]
    ) -> None:
        if self.clock() >= self._due:
            self.write(model, optimizer, schedule, best)

    def write(
        self, model: CausalLM, optimizer: torch.optim.Optimizer, schedule: Schedule, best: Mapping[str, Tensor]
    ) -> None:
        """Now, unless this step is written already. A disk that takes no checkpoint ends no training."""
        if schedule.done == self._written or schedule.done == 0:
            return
        from safetensors import SafetensorError

        begun = self.clock()
        state = {
            "step": schedule.done,
            "max_steps": schedule.total,
            "identity": dict(self.identity),
            "made_with": dict(self.made_with),
            "loss_sums": schedule.loss_sums,
            "held_out_losses": schedule.held_out_losses,
            "neutral_rises": schedule.neutral_rises,
        }
        try:
            write_checkpoint(self.folder, tensors_of(model, optimizer, self.device, best), state)
        except (OSError, SafetensorError) as error:
            print(f"no checkpoint of step {schedule.done}: {type(error).__name__}", file=sys.stderr)
        else:
            self._written = schedule.done
            self.on_written(schedule.done)
        ended = self.clock()
        self._due = ended + max(self.seconds, (ended - begun) / LARGEST_SHARE)

    def resumed(self, step: int) -> None:
        """A checkpoint of this step stands in the folder."""
        self._written = step
        self.on_written(step)


def tensors_of(
    model: CausalLM, optimizer: torch.optim.Optimizer, device: torch.device, best: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """What the next step depends on besides the frozen base, and the adapter that is kept: views, no copies."""
    adapter = {f"{ADAPTER}{name}": p for name, p in model.named_parameters() if p.requires_grad}
    rng = {f"{RNG}cpu": torch.get_rng_state()}
    if device.type == "cuda":
        rng[f"{RNG}cuda"] = torch.cuda.get_rng_state(device)
    kept = {f"{BEST}{name}": tensor for name, tensor in best.items()}
    return adapter | kept | optimizer_tensors(dict(model.named_parameters()), [optimizer]) | rng


def write_checkpoint(folder: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """`state` without format, weights and sha256. Older checkpoints in `folder` go when this one stands.

    Raises OSError and SafetensorError; the older checkpoint stands then.
    """
    from safetensors.torch import save_file

    weights = folder / f"checkpoint-{state['step']:07d}.safetensors"
    part, state_part = folder / f"{weights.name}.part", folder / f"{STATE}.part"
    try:
        save_file({key: value.detach().cpu().contiguous() for key, value in tensors.items()}, part)
        part.chmod(0o600)
        sync(part)
        digest = sha256_of(part)
        part.replace(weights)
        write_json(state_part, {**state, "format": FORMAT, "weights": weights.name, "sha256": digest})
        state_part.replace(folder / STATE)
    finally:
        part.unlink(missing_ok=True)
        state_part.unlink(missing_ok=True)
    if os.name == "posix":
        sync(folder)
    for older in folder.glob("checkpoint-*"):
        if older != weights and older.name != STATE:
            older.unlink(missing_ok=True)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Raises CheckpointInvalid for files that are damaged, and for those of another format."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    state = _read_state(folder / STATE)
    weights = folder / state.weights
    if not WEIGHTS.fullmatch(state.weights) or not weights.is_file():
        raise CheckpointInvalid(f"the tensors of the checkpoint are not there: {Path(state.weights).name[:80]}")
    if sha256_of(weights) != state.sha256:
        raise CheckpointInvalid(f"{weights.name} is damaged: its SHA-256 is not the one that was recorded")
    try:
        return Checkpoint(state, load_file(weights))
    except (SafetensorError, ValueError) as error:
        raise CheckpointInvalid(f"{weights.name} is no safetensors file") from error


def check_tensors(checkpoint: Checkpoint, model: CausalLM) -> None:
    """Raises CheckpointInvalid unless they are what `tensors_of` gives for this model, finite, after as many steps."""
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    shapes = {f"{ADAPTER}{name}": tuple(p.shape) for name, p in trainable.items()}
    if checkpoint.best:
        shapes |= {f"{BEST}{name}": tuple(p.shape) for name, p in trainable.items()}
    shapes |= {
        f"optimizer.{slot}.{name}": () if slot == "step" else tuple(p.shape)
        for name, p in trainable.items()
        for slot in SLOTS
        if f"optimizer.step.{name}" in checkpoint.tensors  # a parameter without gradients has no state
    }
    found = {key: tensor for key, tensor in checkpoint.tensors.items() if not key.startswith(RNG)}
    if strange := sorted(found.keys() ^ shapes.keys()):
        raise CheckpointInvalid(f"the tensors of the checkpoint do not fit the adapter: {strange[0]}")
    for key, tensor in found.items():
        if tensor.dtype != torch.float32 or tuple(tensor.shape) != shapes[key]:
            raise CheckpointInvalid(f"the tensors of the checkpoint do not fit the adapter: {key}")
        if not torch.isfinite(tensor).all():
            raise CheckpointInvalid(f"{key} of the checkpoint holds NaN or infinity")
        if key.startswith("optimizer.step.") and float(tensor) != checkpoint.state.step:
            raise CheckpointInvalid(f"{key} of the checkpoint is not its step")
        if key.startswith("optimizer.exp_avg_sq.") and bool((tensor < 0).any()):
            raise CheckpointInvalid(f"{key} of the checkpoint is negative")
    rng = checkpoint.tensors.get(f"{RNG}cpu")
    if rng is None or rng.dtype != torch.uint8 or rng.shape != torch.get_rng_state().shape:
        raise CheckpointInvalid("the checkpoint holds no random state")


def restore_adapter(checkpoint: Checkpoint, model: CausalLM) -> None:
    """Raises CheckpointInvalid."""
    check_tensors(checkpoint, model)
    copy_adapter(checkpoint.named(ADAPTER), model)


@torch.no_grad()
def copy_adapter(adapter: Mapping[str, Tensor], model: CausalLM) -> None:
    """Into the parameters of these names; none keeps the model's own."""
    for name, parameter in model.named_parameters():
        if name in adapter:
            parameter.copy_(adapter[name])


def restore_training(
    checkpoint: Checkpoint, model: CausalLM, optimizer: torch.optim.Optimizer, device: torch.device
) -> None:
    """Adapter, optimizer and random state. Raises CheckpointInvalid."""
    restore_adapter(checkpoint, model)
    restore_optimizers(dict(model.named_parameters()), [optimizer], checkpoint.tensors)
    try:
        torch.set_rng_state(checkpoint.tensors[f"{RNG}cpu"].clone())
        if device.type == "cuda" and (state := checkpoint.tensors.get(f"{RNG}cuda")) is not None:
            torch.cuda.set_rng_state(state.clone(), device)
    except RuntimeError as error:
        raise CheckpointInvalid("the checkpoint holds no random state") from error


def _read_state(path: Path) -> State:
    state = read_state_file(path, State, FORMAT)
    if len(state.loss_sums) != state.step:
        raise CheckpointInvalid(f"{STATE} holds {len(state.loss_sums)} losses of {state.step} steps")
    return state


def read_state_file(path: Path, model: type[Model], version: int) -> Model:
    """`version`: the `format` that this Imprint reads. Raises CheckpointInvalid."""
    name = path.name
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CheckpointInvalid(f"{name} is too large")
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointInvalid(f"the checkpoint holds no {name}") from None
    except (ValueError, RecursionError) as error:
        raise CheckpointInvalid(f"{name} is not JSON") from error
    if isinstance(value, dict) and value.get("format") != version:
        raise CheckpointInvalid(f"{name} is of format {str(value.get('format'))[:20]}; this Imprint reads {version}")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise unusable(error, name) from error


def unusable(error: ValidationError, name: str) -> CheckpointInvalid:
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"]))[:100]
    if first["type"] == "extra_forbidden":
        return CheckpointInvalid(f"{name}: {field} is not a known field: a newer Imprint may have written it")
    return CheckpointInvalid(f"{name}: {field}: {first['msg']}")


def optimizer_tensors(
    named: Mapping[str, nn.Parameter], optimizers: Iterable[torch.optim.Optimizer]
) -> dict[str, Tensor]:
    """`optimizer.<slot>.<parameter>` -> the tensor itself, not a copy."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in named.items()}
    return {
        f"{OPTIMIZER}{slot}.{names[parameter]}": torch.as_tensor(value)
        for optimizer in optimizers
        for parameter, slots in optimizer.state.items()
        for slot, value in slots.items()
    }


def restore_optimizers(
    named: Mapping[str, nn.Parameter], optimizers: Iterable[torch.optim.Optimizer], tensors: Mapping[str, Tensor]
) -> None:
    """Gives each optimizer the state of the parameters that it holds; other keys of `tensors` are passed over."""
    for optimizer in optimizers:
        owned = {parameter for group in optimizer.param_groups for parameter in group["params"]}
        for key, value in tensors.items():
            if not key.startswith(OPTIMIZER):
                continue
            slot, name = key.removeprefix(OPTIMIZER).split(".", 1)
            if (parameter := named[name]) in owned:
                device = "cpu" if slot == "step" else parameter.device  # AdamW counts its steps on the CPU
                optimizer.state[parameter][slot] = value.to(device, copy=True)
