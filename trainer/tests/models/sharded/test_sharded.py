"""A base of several parts, put together here without processes."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsupported
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.load import load_base
from imprint_trainer.models.output_head import check_output_head
from imprint_trainer.models.sharded.blocks import ShardedBlocks
from imprint_trainer.models.sharded.load import INDEX, load_sharded
from tiny_model import write_family

CPU = torch.device("cpu")


def parts_of(folder: Path, processes: int) -> list[tuple[LoadedBase, ShardedBlocks]]:
    """What each process would hold; whoever gathers finds the others' parts here."""
    loaded: list[tuple[LoadedBase, ShardedBlocks]] = []

    def gather(index: int, _: Tensor, whole: Tensor) -> None:
        for row, (_base, blocks) in zip(whole, loaded, strict=True):
            row.copy_(blocks.part(index))

    for number in range(processes):
        loaded.append(load_sharded(str(folder), number=number, processes=processes, device=CPU, gather=gather))
    return loaded


def logits(base: LoadedBase) -> Tensor:
    with torch.no_grad():
        found: Tensor = base.model(input_ids=torch.arange(40).unsqueeze(0)).logits
    return found


@pytest.mark.parametrize(("family", "processes"), [("llama", 2), ("gemma2", 3), ("gemma3_text", 5), ("cohere2", 2)])
def test_any_of_them_computes_what_a_whole_base_computes_and_holds_its_part_alone(
    family: str, processes: int, tmp_path: Path
) -> None:
    folder = write_family(tmp_path / "model", family)
    whole = load_base(str(folder), quantization="none", device="cpu")
    weights = sum(weight.numel() * 4 for weight in whole.model.get_decoder().layers.parameters())
    for base, blocks in parts_of(folder, processes):
        check_output_head(base.model, "tiny")
        assert torch.equal(logits(base), logits(whole))
        assert weights / processes <= blocks.held_bytes < 1.1 * weights / processes + 4096
        blocks.require_in_step()


def test_processes_that_gather_different_blocks_are_found_out(tiny_folder: Path) -> None:
    (_, blocks), (_, other) = parts_of(tiny_folder, 2)
    other.part(0)[:8].view(torch.int64).fill_(1)
    blocks.gathered(0)
    with pytest.raises(AssertionError, match="different blocks"):
        blocks.require_in_step()


def test_a_base_of_several_files_is_read_by_its_index_and_one_that_names_weights_otherwise_is_refused(
    tiny_copy: Path,
) -> None:
    whole = load_base(str(tiny_copy), quantization="none", device="cpu")
    expected = logits(whole)
    weights = load_file(tiny_copy / "model.safetensors")
    (tiny_copy / "model.safetensors").unlink()
    names = sorted(weights)
    places = {name: f"model-{at % 2}.safetensors" for at, name in enumerate(names)}
    for file in set(places.values()):
        save_file({name: weights[name] for name in names if places[name] == file}, tiny_copy / file)

    def index(changes: dict[str, str]) -> None:
        (tiny_copy / INDEX).write_text(json.dumps({"weight_map": places | changes}))

    index({})
    assert torch.equal(logits(parts_of(tiny_copy, 2)[0][0]), expected)
    index({names[0]: "../elsewhere.safetensors"})
    with pytest.raises(BaseModelInvalid, match="does not say which file"):
        parts_of(tiny_copy, 2)
    del places["model.layers.1.mlp.up_proj.weight"]
    index({})
    with pytest.raises(BaseModelUnsupported, match=r"do not hold model\.layers\.1\.mlp\.up_proj\.weight under that"):
        parts_of(tiny_copy, 2)
