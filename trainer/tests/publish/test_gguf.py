import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers
from transformers import AutoConfig, GemmaConfig, LlamaConfig, Phi3Config, Qwen3Config

from imprint_trainer.errors import Cancelled, ExportUnsupported
from imprint_trainer.jobs.export import main
from imprint_trainer.lora.adapter import Payload
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.locate import model_config
from imprint_trainer.publish.gguf import (
    ARCHITECTURES,
    SHAPE,
    architecture_of,
    export_base_gguf,
    export_gguf,
    gguf_name,
    interleave_halves,
    separate_halves,
    shape_for_gguf,
    supported,
    write_served,
)
from jobs.test_preview import ENVIRONMENT
from publish.sources import random_payload, source_of, write_adapter

NAMES = {"adapter_id": "tiny-adapter", "base_model_name": "tiny"}


def exported(base: LoadedBase, tmp_path: Path, payload: Payload | None = None, name: str = "a") -> Path:
    payload = payload or random_payload(base.model)
    target = tmp_path / f"{name}.gguf"
    export_gguf(source_of(tmp_path / name, payload), base.model.config, target, **NAMES)
    return target


def value(reader: gguf.GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    assert field is not None, key
    return field.contents()


def test_the_file_says_what_llama_cpp_looks_for(base: LoadedBase, tmp_path: Path) -> None:
    reader = gguf.GGUFReader(exported(base, tmp_path))
    expected = {
        "general.type": "adapter",
        "general.architecture": "llama",
        "general.name": "tiny-adapter",
        "general.base_model.0.name": "tiny",
        "adapter.type": "lora",
        "adapter.lora.alpha": 6.0,
    }
    assert {key: value(reader, key) for key in expected} == expected


def test_every_layer_is_there_in_llama_cpps_order_and_with_the_same_numbers(base: LoadedBase, tmp_path: Path) -> None:
    payload = random_payload(base.model)
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(exported(base, tmp_path, payload)).tensors}
    assert len(tensors) == len(payload.tensors) == 2 * 2 * 7
    key = "base_model.model.model.layers.1.{}.lora_{}.weight".format
    for layer, name in [
        ("self_attn.o_proj", "attn_output"),
        ("mlp.down_proj", "ffn_down"),
        ("self_attn.v_proj", "attn_v"),
    ]:
        for side in "AB":
            found = tensors[f"blk.1.{name}.weight.lora_{side.lower()}"].data
            assert np.array_equal(found, payload.tensors[key(layer, side)].numpy())
    # 4 heads of 16 rows for Q, 2 for K: row j of a head's first half stands at 2j, of its second half at 2j + 1
    for layer, name, heads in [("self_attn.q_proj", "attn_q", 4), ("self_attn.k_proj", "attn_k", 2)]:
        found, given_rows = tensors[f"blk.1.{name}.weight.lora_b"].data, payload.tensors[key(layer, "B")].numpy()
        for head in range(heads):
            for row in range(8):
                assert np.array_equal(found[16 * head + 2 * row], given_rows[16 * head + row])
                assert np.array_equal(found[16 * head + 2 * row + 1], given_rows[16 * head + 8 + row])


def test_the_same_adapter_gives_the_same_bytes(base: LoadedBase, tmp_path: Path) -> None:
    assert exported(base, tmp_path, name="one").read_bytes() == exported(base, tmp_path, name="two").read_bytes()


@settings(max_examples=40)
@given(heads=st.integers(1, 6), half=st.integers(1, 8), rank=st.integers(1, 4), seed=st.integers(0, 1000))
def test_reordering_lora_b_reorders_the_update(heads: int, half: int, rank: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    b = torch.randn(2 * heads * half, rank, generator=generator, dtype=torch.float64)
    a = torch.randn(rank, 5, generator=generator, dtype=torch.float64)
    moved = interleave_halves(b, heads)
    assert sorted(map(tuple, moved.tolist())) == sorted(map(tuple, b.tolist()))
    assert torch.equal(moved @ a, interleave_halves(b @ a, heads))
    assert torch.equal(separate_halves(moved, heads), b)


@pytest.mark.parametrize(
    ("config", "layer", "name"),
    [
        (Qwen3Config(num_hidden_layers=2), "model.layers.1.self_attn.q_proj", "blk.1.attn_q.weight"),
        (Phi3Config(num_hidden_layers=2, pad_token_id=0), "model.layers.0.self_attn.qkv_proj", "blk.0.attn_qkv.weight"),
        (Phi3Config(num_hidden_layers=2, pad_token_id=0), "model.layers.0.mlp.gate_up_proj", "blk.0.ffn_up.weight"),
        (GemmaConfig(num_hidden_layers=2), "model.layers.0.mlp.down_proj", "blk.0.ffn_down.weight"),
        (LlamaConfig(tie_word_embeddings=False), "lm_head", "output.weight"),
    ],
)
def test_layers_have_llama_cpps_names(config: Any, layer: str, name: str) -> None:
    assert gguf_name(layer, architecture_of(config.model_type), config) == name


def test_every_known_family_is_one_of_transformers_and_of_gguf() -> None:
    for model_type, architecture in ARCHITECTURES.items():
        assert AutoConfig.for_model(model_type).model_type == model_type
        assert architecture.name in gguf.MODEL_ARCH_NAMES.values()


@pytest.mark.parametrize("layer", ["lm_head", "model.layers.0.self_attn.other_proj", "model.layers.99.mlp.up_proj"])
def test_a_layer_that_llama_cpp_does_not_have_is_refused(layer: str) -> None:
    config = LlamaConfig(num_hidden_layers=2, tie_word_embeddings=True)
    with pytest.raises(ExportUnsupported, match=layer):
        gguf_name(layer, architecture_of("llama"), config)


def test_a_family_and_a_scaling_that_llama_cpp_does_not_know_are_refused(base: LoadedBase, tmp_path: Path) -> None:
    with pytest.raises(ExportUnsupported, match="this base model is gpt2"):
        architecture_of("gpt2")
    payload = random_payload(base.model)
    with pytest.raises(ExportUnsupported, match="rank-stabilised"):
        exported(base, tmp_path, Payload(payload.tensors, {**payload.config, "use_rslora": True}))


def test_a_cancelled_export_ends(base: LoadedBase, tmp_path: Path) -> None:
    def stop() -> None:
        raise Cancelled

    source = source_of(tmp_path / "a", random_payload(base.model))
    with pytest.raises(Cancelled):
        export_gguf(source, base.model.config, tmp_path / "a.gguf", **NAMES, stop_if_cancelled=stop)


@pytest.fixture
def reader(base: LoadedBase, tmp_path: Path) -> gguf.GGUFReader:
    export_base_gguf(base, tmp_path / "base.gguf", name="tiny")
    return gguf.GGUFReader(tmp_path / "base.gguf")


def stored(reader: gguf.GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    assert field is not None, key
    return field.contents()


def test_the_file_says_the_shape_and_the_tokenizer(reader: gguf.GGUFReader, base: LoadedBase) -> None:
    model: Any = base.model
    config = model.config
    assert stored(reader, "general.architecture") == "llama"
    assert stored(reader, "llama.block_count") == config.num_hidden_layers
    assert stored(reader, "llama.context_length") == config.max_position_embeddings
    assert stored(reader, "tokenizer.ggml.model") == "gpt2"
    tokens = stored(reader, "tokenizer.ggml.tokens")
    assert len(tokens) == config.vocab_size
    vocabulary = base.tokenizer.get_vocab()
    assert all(tokens[index] == token for token, index in vocabulary.items())


def test_rows_without_a_token_have_a_name_of_their_own(base: LoadedBase, tmp_path: Path) -> None:
    base.model.resize_token_embeddings(base.model.config.vocab_size + 2)
    export_base_gguf(base, tmp_path / "padded.gguf", name="tiny")
    last = base.model.config.vocab_size - 1
    tokens = stored(gguf.GGUFReader(tmp_path / "padded.gguf"), "tokenizer.ggml.tokens")
    assert tokens[last - 1 :] == [f"[PAD{last - 1}]", f"[PAD{last}]"]


def test_the_way_to_split_text_is_named_as_llama_cpp_knows_it(base: LoadedBase, tmp_path: Path) -> None:
    base.tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    export_base_gguf(base, tmp_path / "digits.gguf", name="tiny")
    assert stored(gguf.GGUFReader(tmp_path / "digits.gguf"), "tokenizer.ggml.pre") == "smollm"


def test_the_weights_are_those_that_the_trainer_computes_with(reader: gguf.GGUFReader, base: LoadedBase) -> None:
    model: Any = base.model
    weights = model.state_dict()
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    queries = interleave_halves(
        weights["model.layers.1.self_attn.q_proj.weight"].float(), model.config.num_attention_heads
    )
    for name, expected in {
        "token_embd.weight": weights["model.embed_tokens.weight"].float(),
        "blk.1.attn_q.weight": queries,
        "blk.0.ffn_down.weight": weights["model.layers.0.mlp.down_proj.weight"].float(),
        "output_norm.weight": weights["model.norm.weight"].float(),
    }.items():
        stored = tensors[name]
        found = gguf.quants.dequantize(stored.data, stored.tensor_type)
        step = float(expected.abs().max()) / 127
        assert np.abs(found - expected.numpy()).max() <= step


def test_what_llama_cpp_would_read_differently_is_refused() -> None:
    with pytest.raises(ExportUnsupported, match="type is one of"):
        supported(GemmaConfig())
    with pytest.raises(ExportUnsupported, match="rotary"):
        supported(LlamaConfig(rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}))


def test_a_file_that_does_not_fit_into_memory_is_said_and_not_written(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "base")
    monkeypatch.setattr("imprint_trainer.publish.gguf.available_bytes", lambda: 1000)
    said: list[str] = []
    write_served(folder, said.append)
    assert said == [said[0]]
    assert said[0].startswith("the trainer will answer chats, not llama.cpp: its file takes 0.0 GB of memory to write")
    assert not list(folder.glob("*.gguf"))


def test_a_base_that_is_not_there_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made" / "base.gguf"
    assert main(["--base", str(tmp_path / "nowhere"), "--out", str(out)]) == 1
    assert capsys.readouterr().err
    assert not out.parent.exists()


def test_an_adapters_file_is_written_without_the_libraries_of_models(
    base: LoadedBase, tiny_folder: Path, tmp_path: Path
) -> None:
    """They take seconds, which the first chat with each adapter would wait."""
    write_adapter(tmp_path / "adapter", random_payload(base.model))
    arguments = ["--base", str(tiny_folder), "--adapter", str(tmp_path / "adapter"), "--out", str(tmp_path / "a.gguf")]
    script = (
        f"import sys; from imprint_trainer.jobs.export import main; main({arguments});"
        "print({'transformers', 'peft', 'bitsandbytes'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True, env=ENVIRONMENT)
    assert ran.stdout == "set()\n"


@pytest.mark.parametrize("left_out", [None, *SHAPE[1:]])
def test_the_shape_for_a_file_is_what_transformers_reads(tiny_copy: Path, left_out: str | None) -> None:
    stored = json.loads((tiny_copy / "config.json").read_text())
    stored.pop(left_out, None)
    (tiny_copy / "config.json").write_text(json.dumps(stored))
    shape, read = shape_for_gguf(tiny_copy), model_config(tiny_copy)
    assert [getattr(shape, name) for name in SHAPE] == [getattr(read, name) for name in SHAPE]
    assert isinstance(shape, SimpleNamespace) is (left_out is None)
