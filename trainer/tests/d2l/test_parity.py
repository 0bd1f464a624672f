"""The reference's numbers, and what the runner says when they are not met."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor

from d2l.parity import cases_of, compare, load_case, main, run_case, run_folder, sample_chunk_count
from d2l.pickles import old_module_path, renaming, rewrite
from d2l.tiny import FIXTURES

CASES = [name for name, _ in cases_of(FIXTURES)]
FOLDERS = [name for name in CASES if not name.endswith(".json")]


def test_the_shared_cases_are_all_there() -> None:
    assert CASES == [
        "chunking.json",
        "context-text.json",
        "gemma2-early-exit-no-bias",
        "llama-batch-two-modules",
        "pickle-llama-one-chunk",
        "qwen3-three-chunks",
    ]


@pytest.mark.parametrize("name", CASES)
def test_a_shared_case_is_within_tolerance(name: str) -> None:
    checks = dict(cases_of(FIXTURES))[name]()
    assert checks
    assert [check for check in checks if not check.passed] == []


@pytest.mark.parametrize("name", FOLDERS)
def test_every_expected_tensor_is_checked(name: str) -> None:
    expected = load_file(FIXTURES / name / "expected.safetensors").keys()
    assert {check.name for check in run_case(load_case(FIXTURES / name))} == set(expected)


def left_padded(folder: Path) -> None:
    """Move each row's tokens to the right end, in the inputs and in the expected features."""
    inputs, expected = load_file(folder / "inputs.safetensors"), load_file(folder / "expected.safetensors")
    lengths = inputs["ctx_attn_mask"].sum(-1).tolist()

    def shift(rows: Tensor, dim: int) -> Tensor:
        return torch.stack([row.roll(row.shape[dim] - n, dims=dim) for row, n in zip(rows, lengths, strict=True)])

    inputs["ctx_ids"], inputs["ctx_attn_mask"] = shift(inputs["ctx_ids"], 0), shift(inputs["ctx_attn_mask"], 0)
    expected["features"] = shift(expected["features"], expected["features"].dim() - 3)
    save_file(inputs, folder / "inputs.safetensors")
    save_file(expected, folder / "expected.safetensors")


def compiled(folder: Path) -> None:
    path = folder / "hypernet.safetensors"
    if path.exists():
        save_file({f"_orig_mod.{key}": tensor for key, tensor in load_file(path).items()}, path)


def lacking_fields(folder: Path) -> None:
    path = folder / "hypernet_config.json"
    if path.exists():
        settings = json.loads(path.read_text())
        for field in ("per_layer_processing", "use_per_rank_bias", "dropout_rate", "use_token_mixing", "layer_indices"):
            del settings["hypernet_config"][field]
        settings["hypernet_config"]["aggregator_config"]["num_blocks"] = 8
        del settings["hypernet_config"]["num_pre_head_layers"]
        path.write_text(json.dumps(settings))


def heads_in_one_place(folder: Path) -> None:
    path = folder / "case.json"
    description = json.loads(path.read_text())
    if (folder / "hypernet_config.json").exists():
        del description["perceiver_attention"]
    path.write_text(json.dumps(description))


def old_pickle(folder: Path) -> None:
    path = folder / "pytorch_model.bin"
    if path.exists():
        path.unlink()
        rewrite(path, lambda data: renaming("num_pre_head_layers", "something_new")(old_module_path(data)))


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("change", [left_padded, compiled, lacking_fields, heads_in_one_place, old_pickle])
def test_other_cases_of_the_format_pass_too(tmp_path: Path, name: str, change: Callable[[Path], None]) -> None:
    folder = Path(shutil.copytree(FIXTURES / name, tmp_path / name))
    change(folder)
    assert [check for check in run_case(load_case(folder)) if not check.passed] == []


def edit_json(path: Path, edit: Callable[[Any], None]) -> None:
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


def usual_multiplier(folder: Path) -> None:
    """alpha / r, the common misreading."""
    edit_json(
        folder / "hypernet_config.json", lambda c: c["hypernet_config"]["lora_config"].update(lora_alpha=16.0 / 4)
    )


def other_heads(folder: Path) -> None:
    edit_json(
        folder / "case.json",
        lambda c: c.update(perceiver_attention={"n_heads": 2, "num_key_value_heads": 1, "head_dim": 16}),
    )


def other_weights(folder: Path) -> None:
    tensors = load_file(folder / "hypernet.safetensors")
    tensors["scaler_B.down_proj"] = tensors["scaler_B.down_proj"] * 1.001
    save_file(tensors, folder / "hypernet.safetensors")


@pytest.mark.parametrize(
    ("change", "failing"),
    [(usual_multiplier, "logits_lora"), (other_heads, "perceiver_encoder"), (other_weights, "generated.down_proj.B")],
)
def test_a_wrong_number_is_found_where_it_arises(tmp_path: Path, change: Callable[[Path], None], failing: str) -> None:
    folder = Path(shutil.copytree(FIXTURES / "qwen3-three-chunks", tmp_path / "case"))
    change(folder)
    failed = [check.name for check in run_case(load_case(folder)) if not check.passed]
    assert failing in failed
    assert "features" not in failed


def test_an_expected_tensor_that_nothing_computes_fails(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FIXTURES / "qwen3-three-chunks", tmp_path / "case"))
    expected = load_file(folder / "expected.safetensors")
    save_file({**expected, "novelty": torch.zeros(1)}, folder / "expected.safetensors")
    assert [check.name for check in run_case(load_case(folder)) if not check.passed] == ["novelty"]


def test_an_unreadable_case_fails_and_the_others_still_run(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "context-text.json", tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "case.json").write_text("{}")
    lines: list[str] = []
    assert run_folder(tmp_path, lines.append) == (1, 1)
    assert any(line.startswith("  FAIL") for line in lines)


def test_wrong_chunks_and_texts_fail(tmp_path: Path) -> None:
    for name in ("chunking.json", "context-text.json"):
        shutil.copy(FIXTURES / name, tmp_path)
    edit_json(tmp_path / "chunking.json", lambda c: c["cases"][4]["ctx_ids"][1].append(7))
    edit_json(tmp_path / "context-text.json", lambda c: c["cases"][0].update(rendered="Hello"))
    assert run_folder(tmp_path, lambda _: None) == (0, 2)


def test_the_command_counts_and_exits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(FIXTURES / "context-text.json", tmp_path)
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("1 passed, 0 failed\n")
    edit_json(tmp_path / "context-text.json", lambda c: c["cases"][0].update(rendered="Hello"))
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.endswith("0 passed, 1 failed\n")
    assert main([]) == 2
    (tmp_path / "context-text.json").unlink()
    assert main([str(tmp_path)]) == 1


def test_a_folder_that_is_a_case_itself_runs() -> None:
    assert run_folder(FIXTURES / "qwen3-three-chunks", lambda _: None) == (1, 0)


EXPECTED = torch.tensor([1.0, -4.0, 0.0])


@pytest.mark.parametrize(
    ("error", "passed"),
    [
        ([0.0, 0.0, 0.0], True),
        ([0.0, 0.0, 3.9e-3], True),
        ([0.0, 0.0, 4.1e-3], False),
        ([0.0, -0.04, 0.0], True),
        ([0.0, float("nan"), 0.0], False),
        ([float("inf"), 0.0, 0.0], False),
    ],
)
def test_the_tolerance_scales_with_the_tensor_and_the_element(error: list[float], passed: bool) -> None:
    check = compare("x", EXPECTED + torch.tensor(error), EXPECTED, atol=1e-3, rtol=1e-2)
    assert check.passed is passed


def test_another_shape_fails() -> None:
    assert not compare("x", EXPECTED[None], EXPECTED, atol=1, rtol=1).passed


def test_a_tensor_of_zeros_must_be_met_exactly() -> None:
    zeros = torch.zeros(3)
    assert compare("x", zeros, zeros, atol=1e-3, rtol=1e-2).passed
    assert not compare("x", zeros + 1e-9, zeros, atol=1e-3, rtol=1e-2).passed


@given(n=st.integers(1, 100), seed=st.integers(0, 99))
def test_sampled_counts_are_feasible(n: int, seed: int) -> None:
    weights = dict.fromkeys(range(1, 101), 1.0)
    count = sample_chunk_count(n, weights, min_chunk_length=3, max_chunk_length=8, generator=random.Random(seed))
    assert -(-n // 8) <= count <= -(-n // 3)


def test_counts_are_drawn_by_their_weights() -> None:
    generator = random.Random(0)
    drawn = [
        sample_chunk_count(24, {3: 0.9, 4: 0.1, 5: 0.0}, min_chunk_length=3, max_chunk_length=8, generator=generator)
        for _ in range(1000)
    ]
    assert 850 < drawn.count(3) < 950
    assert drawn.count(5) == 0


def test_an_unreachable_count_is_an_error() -> None:
    with pytest.raises(ValueError, match="no feasible chunk count: 40 ids need 5 to 8 chunks"):
        sample_chunk_count(40, {2: 1.0}, min_chunk_length=5, max_chunk_length=8, generator=random.Random(0))
