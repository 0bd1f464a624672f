import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from imprint_trainer.errors import AdapterInvalid, ExportUnsupported
from imprint_trainer.lora.adapter import Factors, Payload
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.load import load_base
from imprint_trainer.publish.merged import export_merged, merge_weight
from imprint_trainer.publish.peft_format import attached, read_source
from publish.sources import random_payload, source_of, write_adapter
from tiny_model import write_family

WEIGHTS = "model.safetensors"


def merged(base: LoadedBase, tmp_path: Path, payload: Payload) -> Path:
    target = tmp_path / "merged"
    target.mkdir()
    export_merged(source_of(tmp_path / "adapter", payload), base.folder, target)
    return target


def test_the_merged_model_gives_the_logits_that_peft_gives(base: LoadedBase, tmp_path: Path) -> None:
    ids = torch.arange(10, 60).reshape(2, 25)
    target = merged(base, tmp_path, random_payload(base.model))
    with torch.no_grad():
        bare = base.model(input_ids=ids).logits
        with attached(base, tmp_path / "adapter") as model:
            expected = model(input_ids=ids).logits
        found = load_base(str(target), quantization="none", device="cpu").model(input_ids=ids).logits
    assert float((expected - bare).abs().max()) > 1.0
    assert torch.allclose(found, expected, atol=1e-3)


def test_everything_but_the_updated_weights_is_the_base_models(base: LoadedBase, tmp_path: Path) -> None:
    target = merged(base, tmp_path, random_payload(base.model))
    before, after = load_file(base.folder / WEIGHTS), load_file(target / WEIGHTS)
    changed = {key for key in before if not torch.equal(before[key], after[key])}
    assert before.keys() == after.keys()
    assert len(changed) == 2 * 7
    assert all(key.endswith("_proj.weight") for key in changed)
    names = {path.name for path in base.folder.iterdir() if path.is_file()}
    assert {path.name for path in target.iterdir()} == names
    assert all((target / name).read_bytes() == (base.folder / name).read_bytes() for name in names - {WEIGHTS})


@pytest.mark.parametrize("family", ["gemma3", "qwen3_5"])  # their files name the text's part in different orders
def test_of_a_base_that_reads_images_the_text_part_is_merged(tmp_path: Path, family: str) -> None:
    base = load_base(str(write_family(tmp_path / "base", family)), quantization="none", device="cpu")
    target, ids = merged(base, tmp_path, random_payload(base.model)), torch.arange(10, 60).reshape(2, 25)
    with torch.no_grad(), attached(base, tmp_path / "adapter") as model:
        expected = model(input_ids=ids).logits
    with torch.no_grad():
        found = load_base(str(target), quantization="none", device="cpu").model(input_ids=ids).logits
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


def test_weights_in_several_files_stay_where_they_are(tiny_copy: Path, base: LoadedBase, tmp_path: Path) -> None:
    whole = load_file(tiny_copy / WEIGHTS)
    (tiny_copy / WEIGHTS).unlink()
    halves = {"model-1.safetensors": sorted(whole)[::2], "model-2.safetensors": sorted(whole)[1::2]}
    for name, keys in halves.items():
        save_file({key: whole[key] for key in keys}, tiny_copy / name, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": {key: name for name, keys in halves.items() for key in keys}}
    (tiny_copy / "model.safetensors.index.json").write_text(json.dumps(index))
    save_file(whole, tiny_copy / "consolidated.safetensors")  # the same weights for another program
    target, one = tmp_path / "several", merged(base, tmp_path, random_payload(base.model))
    target.mkdir()
    export_merged(read_source(tmp_path / "adapter"), tiny_copy, target)
    assert not (target / "consolidated.safetensors").exists()
    parts = load_file(target / "model-1.safetensors") | load_file(target / "model-2.safetensors")
    expected = load_file(one / WEIGHTS)
    assert parts.keys() == expected.keys()
    assert all(torch.equal(parts[key], expected[key]) for key in parts)


@settings(max_examples=40)
@given(dtype=st.sampled_from([torch.float32, torch.bfloat16]), rank=st.integers(1, 8), seed=st.integers(0, 1000))
def test_a_merged_weight_is_the_exact_sum_rounded_once(dtype: torch.dtype, rank: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(6, 5, generator=generator).to(dtype)
    factors = Factors(torch.randn(rank, 5, generator=generator), torch.randn(rank, 6, generator=generator))
    found = merge_weight(weight, factors, 0.5, "layer")
    exact = weight.double() + 0.5 * (factors.B.mT.double() @ factors.A.double())
    assert found.dtype == dtype
    half_step = torch.finfo(dtype).eps / 2 * exact.abs() + 1e-5
    assert bool(((found.double() - exact).abs() <= 1.01 * half_step).all())


def spoiled_config(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"quantization_config": {"quant_method": "gptq"}}))


def spoiled_weights(copy: Path) -> None:
    tensors = load_file(copy / WEIGHTS)
    key = "model.layers.0.mlp.up_proj.weight"
    save_file(tensors | {key: tensors[key].to(torch.int8)}, copy / WEIGHTS, metadata={"format": "pt"})


@pytest.mark.parametrize("spoil", [spoiled_config, spoiled_weights])
def test_quantised_weights_are_refused(spoil: Any, tiny_copy: Path, base: LoadedBase, tmp_path: Path) -> None:
    spoil(tiny_copy)
    source = source_of(tmp_path / "adapter", random_payload(base.model))
    with pytest.raises(ExportUnsupported, match="unquantised"):
        export_merged(source, tiny_copy, tmp_path)


@pytest.mark.parametrize(
    ("module", "shape", "sentence"),
    [
        ("model.layers.7.mlp.up_proj", (128, 64), "hold no weight of model.layers.7.mlp.up_proj"),
        ("model.layers.0.mlp.up_proj", (64, 128), "has another shape"),
    ],
)
def test_an_adapter_of_another_model_is_refused(
    module: str, shape: tuple[int, int], sentence: str, base: LoadedBase, tmp_path: Path
) -> None:
    payload = random_payload(base.model)
    key = f"base_model.model.{module}.lora_"
    pair = {f"{key}A.weight": torch.ones(4, shape[1]), f"{key}B.weight": torch.ones(shape[0], 4)}
    source = source_of(tmp_path / "adapter", Payload({**payload.tensors, **pair}, payload.config))
    with pytest.raises(AdapterInvalid, match=sentence):
        export_merged(source, base.folder, tmp_path)


def test_a_file_of_an_adapter_that_is_cut_or_odd_is_refused(base: LoadedBase, tmp_path: Path) -> None:
    folder = write_adapter(tmp_path / "adapter", random_payload(base.model))
    whole = (folder / "adapter_model.safetensors").read_bytes()
    for cut in (0, 7, 100, len(whole) - 1):
        (folder / "adapter_model.safetensors").write_bytes(whole[:cut])
        with pytest.raises(AdapterInvalid, match="cannot be read"):
            read_source(folder)
    save_file({"base_model.model.x.lora_A.weight": torch.ones(2, 2)}, folder / "adapter_model.safetensors")
    with pytest.raises(AdapterInvalid, match="make no update"):
        read_source(folder)
