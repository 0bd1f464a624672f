"""Conversion: what older files say and lack is understood, and a refused file leaves nothing behind."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from d2l.pickles import CHECKPOINT, Edit, after, in_globals, old_module_path, renaming, rewrite, text, unchanged
from doc_to_lora.checkpoint import convert, main, read_checkpoint, reference_config
from doc_to_lora.config import HypernetworkConfig
from doc_to_lora.generate import DocToLora, check_tensors
from imprint_trainer.errors import HypernetworkInvalid
from imprint_trainer.imprint.folder import load


def compiled(data: bytes) -> bytes:
    """Every tensor key with torch.compile's prefix."""
    for key in read_checkpoint(CHECKPOINT).tensors:
        data = renaming(key, f"_orig_mod.{key}")(data)
    return data


def lacking(*fields: str) -> Edit:
    return after(*(renaming(field, f"x_{field}") for field in fields))


def setting(field: str, old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Change the opcode of a field's value. The field name is memoised: opcode r and four bytes follow it."""

    def edit(data: bytes) -> bytes:
        start = data.index(text(field)) + len(text(field)) + 5
        assert data[start : start + len(old)] == old, data[start : start + 8]
        return data[:start] + new + data[start + len(old) :]

    return edit


SAME = {
    "as written": unchanged,
    "old module path": old_module_path,
    "every class under the old module path": after(
        old_module_path,
        in_globals("ctx_to_lora.modeling.aggregator.AggregatorConfig", "ctx_to_lora.modeling_utils.AggregatorConfig"),
        in_globals("ctx_to_lora.configs.CtxEncoderArguments", "ctx_to_lora.modeling_utils.CtxEncoderArguments"),
    ),
    "torch.compile prefixes": compiled,
    "no num_pre_head_layers": lacking("num_pre_head_layers"),
    "no use_bias and no use_per_rank_bias": lacking("use_bias", "use_per_rank_bias"),
    "no dropout_rate": lacking("dropout_rate"),
    "no per_layer_processing": lacking("per_layer_processing"),
    "no encoder settings": lacking("ctx_encoder_type", "layer_idx", "quantize_ctx_encoder", "ctx_encoder_last_layer"),
    "no sizes": lacking("latent_size", "num_layers", "n_latent_queries", "num_blocks", "num_self_attn_per_block"),
    "no shapes": lacking("feature_sizes", "layer_indices", "base_hidden_size", "target_modules"),
    "a wrong block count": setting("num_blocks", b"K\x02", b"K\x09"),
    "everything old at once": after(
        compiled, old_module_path, lacking("num_pre_head_layers", "use_bias", "shared_weights")
    ),
}


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME.keys())
def test_variants_of_the_file_convert_to_the_same_hypernetwork(tmp_path: Path, edit: Edit) -> None:
    original = read_checkpoint(CHECKPOINT)
    config = convert(rewrite(tmp_path / "model.bin", edit), "base", tmp_path / "out")
    assert config == reference_config(original)
    converted = load_file(tmp_path / "out" / "model.safetensors")
    assert converted.keys() == original.tensors.keys()
    assert all(torch.equal(tensor, original.tensors[key]) for key, tensor in converted.items())


def test_a_folder_with_json_and_safetensors_is_written_and_loads(tmp_path: Path) -> None:
    config = convert(CHECKPOINT, "base", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"hypernetwork.json", "model.safetensors"}
    written = json.loads((tmp_path / "out" / "hypernetwork.json").read_text())
    assert HypernetworkConfig.model_validate(written) == config
    made = load(tmp_path / "out", torch.device("cpu"))
    assert isinstance(made, DocToLora)
    network = made.network
    assert network.config == config
    assert not network.training
    assert not any(parameter.requires_grad for parameter in network.parameters())


def test_storages_of_a_gpu_come_to_the_cpu() -> None:
    raw = read_checkpoint(CHECKPOINT)  # its storages are tagged cuda:0
    assert {tensor.device.type for tensor in raw.tensors.values()} == {"cpu"}


def nan_weights(path: Path) -> Path:
    return rewrite(path, entries={"data/10": b"\xff" * 64})


REFUSED: dict[str, tuple[Callable[[Path], Path], str]] = {
    "NaN weights": (nan_weights, "NaN or infinity"),
    "per_rank_gen False": (lambda p: rewrite(p, setting("per_rank_gen", b"\x88", b"\x89")), "per_rank_gen"),
    "token mixing": (lambda p: rewrite(p, setting("use_token_mixing", b"\x89", b"\x88")), "use_token_mixing"),
    "per-rank bias": (lambda p: rewrite(p, setting("use_per_rank_bias", b"\x89", b"\x88")), "use_per_rank_bias"),
    "shared weights": (lambda p: rewrite(p, setting("shared_weights", b"\x89", b"\x88")), "shared_weights"),
    "another aggregator": (lambda p: rewrite(p, renaming("perceiver", "poolingxx")), "aggregator_type"),
    "another encoder": (lambda p: rewrite(p, renaming("per_layer_activations", "embedding_only")), "embedding_only"),
    "the wrong encoder": (lambda p: rewrite(p, renaming("per_layer_activations", "early_exit")), "output latents"),
    "a missing tensor": (lambda p: rewrite(p, renaming("head.weight", "heat.weight")), "head.weight"),
    "a surplus tensor": (
        lambda p: rewrite(p, renaming("layers.0.layers.4.bias", "layers.0.layers.4.bios")),
        "layers.0.layers.4.bi",
    ),
    "no settings": (lambda p: rewrite(p, renaming("hypernet_config", "hypernet_confix")), "hypernet_config"),
    "no lora settings": (lambda p: rewrite(p, lacking("lora_config")), "lora_config"),
    "no multiplier": (lambda p: rewrite(p, lacking("lora_alpha")), "lora_alpha"),
    "gaps in the layers": (
        lambda p: rewrite(
            p, lambda d: d.replace(b"aggregator.perceiver.encoder.layers.1.", b"aggregator.perceiver.encoder.layers.2.")
        ),
        "not numbered",
    ),
    "a truncated file": (lambda p: _truncated(p), "truncated"),
}


def _truncated(path: Path) -> Path:
    path.write_bytes(CHECKPOINT.read_bytes()[:-100])
    return path


@pytest.mark.parametrize(("make", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_checkpoint_leaves_nothing_behind(tmp_path: Path, make: Callable[[Path], Path], says: str) -> None:
    path = make(tmp_path / "model.bin")
    with pytest.raises(HypernetworkInvalid, match=says):
        convert(path, "base", tmp_path / "out" / "name")
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.bin"]


def test_a_checkpoint_of_another_base_is_refused_by_both_names(tmp_path: Path) -> None:
    with pytest.raises(HypernetworkInvalid, match=r"trained for base, not for Qwen/Qwen3-4B"):
        convert(CHECKPOINT, "Qwen/Qwen3-4B-Instruct-2507", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_head_counts_that_do_not_fit_are_refused() -> None:
    raw = read_checkpoint(CHECKPOINT)
    attention = reference_config(raw).attention
    assert (attention.n_heads, attention.num_key_value_heads, attention.head_dim) == (16, 4, 128)
    other = reference_config(raw, attention.model_copy(update={"head_dim": 64}))
    with pytest.raises(HypernetworkInvalid, match=r"self_attn\.\w+\.weight has the shape"):
        check_tensors(raw.tensors, other)


def test_the_command_converts_and_says_which_hypernetwork_of_the_base_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    used = []
    for name in ("m", "z", "a"):
        out = tmp_path / "hypernetworks" / name
        assert main([str(CHECKPOINT), "--base", "base", "--out", str(out)]) == 0
        made = json.loads(capsys.readouterr().out)
        assert (made["path"], made["config"]["base_model_name_or_path"]) == (str(out), "base")
        used.append(made["used"])
    assert used == ["m", "m", "a"]


def test_a_refusal_is_a_sentence_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(CHECKPOINT), "--base", "other", "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("HYPERNETWORK_INVALID: The checkpoint was trained for base, not for other.\n")
    assert not (tmp_path / "out").exists()
