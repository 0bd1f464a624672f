"""Reads a base's safetensors weight by weight, and of each one no more than this process holds."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsupported
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.device import compute_dtype
from imprint_trainer.models.linear import freeze_linears
from imprint_trainer.models.load import first_line
from imprint_trainer.models.locate import locate_base
from imprint_trainer.models.scan import read_json
from imprint_trainer.models.tokenizer import load_tokenizer

from .blocks import Gather, ShardedBlock, ShardedBlocks, blocks_of

INDEX, SINGLE = "model.safetensors.index.json", "model.safetensors"


def load_sharded(
    path_or_hub_id: str,
    *,
    number: int,
    processes: int,
    device: torch.device,
    gather: Gather,
    digests: Path | None = None,
) -> tuple[LoadedBase, ShardedBlocks]:
    """A frozen base in eval mode, whose blocks are held by all processes together; what is around them (embeddings,
    final norm, output head) each holds whole. At no time is more of it here than that and one weight.

    Raises BaseModelNotFound, BaseModelUnsafe, BaseModelInvalid, BaseModelUnsupported.
    """
    located = locate_base(path_or_hub_id)
    dtype = compute_dtype(device)
    model = _without_weights(located.folder, dtype)
    name = Path(path_or_hub_id).name
    files = files_of(located.folder)
    inside: set[str] = set()
    blocks: list[ShardedBlock] = []
    for index, (prefix, block) in enumerate(blocks_of(model, name)):
        blocks.append(
            ShardedBlock(block, prefix, index, number=number, processes=processes, dtype=dtype, device=device)
        )
        inside |= {piece.key for piece in blocks[-1].pieces}
    with Files(located.folder, files, name) as read:
        for sharded in blocks:
            for piece in sharded.pieces:
                if sharded.wants(piece):
                    sharded.keep(piece, read.weight(piece.key, piece.shape))
        for key, weight in list(model.named_parameters()):
            if key not in inside:
                whole = read.weight(key, weight.shape).to(device=device, dtype=dtype, copy=True)
                owner, _, own_name = key.rpartition(".")
                model.get_submodule(owner)._parameters[own_name] = nn.Parameter(whole, requires_grad=False)
    model.tie_weights()
    model.to(device)
    model.requires_grad_(False)
    model.eval()
    model.config.use_cache = False
    freeze_linears(model)
    base = LoadedBase(
        model=model,
        tokenizer=load_tokenizer(located.folder),
        folder=located.folder,
        revision=located.revision,
        quantization="none",
        dequantised=False,
        computes_in=str(dtype).removeprefix("torch."),
        device=device,
        digests=digests,
    )
    return base, ShardedBlocks(blocks, gather)


def files_of(folder: Path) -> Mapping[str, str]:
    """The file of each weight. Raises BaseModelInvalid."""
    from safetensors import safe_open

    if (folder / INDEX).is_file():
        named = read_json(folder / INDEX).get("weight_map")
        if not isinstance(named, dict) or not all(
            isinstance(one, str) and Path(one).name == one for one in named.values()
        ):
            raise BaseModelInvalid(f"{INDEX} of {folder.name} does not say which file holds which weight")
        return named
    if not (folder / SINGLE).is_file():
        raise BaseModelInvalid(f"{folder.name} holds neither {SINGLE} nor {INDEX}")
    with safe_open(folder / SINGLE, framework="pt") as file:
        return dict.fromkeys(file.keys(), SINGLE)


class Files:
    """One is open at a time: its pages are the system's, which takes them back where memory is short."""

    def __init__(self, folder: Path, files: Mapping[str, str], name: str) -> None:
        self._folder = folder
        self._files = files
        self._name = name
        self._open: tuple[str, Any] | None = None
        self._ending = ExitStack()

    def __enter__(self) -> "Files":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def weight(self, key: str, shape: torch.Size) -> Tensor:
        """Raises BaseModelInvalid, BaseModelUnsupported."""
        if key not in self._files:
            raise BaseModelUnsupported(
                f"{self._name} cannot be sharded: its files do not hold {key} under that name. "
                "Start the service without --shard-base."
            )
        try:
            weight: Tensor = self._file(self._files[key]).get_tensor(key)
        except Exception as error:
            raise BaseModelInvalid(f"{self._name} cannot be loaded: {first_line(error)}") from error
        if weight.shape != shape:
            raise BaseModelInvalid(f"{self._name}: {key} has the shape {list(weight.shape)}, not {list(shape)}")
        return weight

    def _file(self, name: str) -> Any:
        from safetensors import safe_open

        if self._open is None or self._open[0] != name:
            self._close()
            self._open = (name, self._ending.enter_context(safe_open(self._folder / name, framework="pt")))
        return self._open[1]

    def _close(self) -> None:
        self._open = None
        self._ending.close()


def _without_weights(folder: Path, dtype: torch.dtype) -> Any:
    """Buffers are there: files do not hold what is made from the configuration."""
    from accelerate import init_empty_weights
    from transformers import AutoConfig, AutoModelForCausalLM

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        config._attn_implementation = None  # as load_base has it
        with init_empty_weights(include_buffers=False):
            model = AutoModelForCausalLM.from_config(config, dtype=dtype, trust_remote_code=False)
        model.tie_weights()
        return model
    except Exception as error:
        raise BaseModelInvalid(f"{folder.name} cannot be loaded: {first_line(error)}") from error
