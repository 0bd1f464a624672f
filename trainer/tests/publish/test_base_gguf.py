from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from transformers import GemmaConfig, LlamaConfig

from imprint_trainer.errors import ExportUnsupported
from imprint_trainer.jobs.export_cli import main
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.publish.gguf import export_base_gguf, interleave_halves, supported


@pytest.fixture
def reader(base: LoadedBase, tmp_path: Path) -> gguf.GGUFReader:
    export_base_gguf(base, tmp_path / "base.gguf", name="tiny")
    return gguf.GGUFReader(tmp_path / "base.gguf")


def value(reader: gguf.GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    assert field is not None, key
    return field.contents()


def test_the_file_says_the_shape_and_the_tokenizer(reader: gguf.GGUFReader, base: LoadedBase) -> None:
    model: Any = base.model
    config = model.config
    assert value(reader, "general.architecture") == "llama"
    assert value(reader, "llama.block_count") == config.num_hidden_layers
    assert value(reader, "llama.context_length") == config.max_position_embeddings
    assert value(reader, "tokenizer.ggml.model") == "gpt2"
    tokens = value(reader, "tokenizer.ggml.tokens")
    assert len(tokens) == config.vocab_size
    vocabulary = base.tokenizer.get_vocab()
    assert all(tokens[index] == token for token, index in vocabulary.items())


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


def test_a_base_that_is_not_there_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made" / "base.gguf"
    assert main(["--base", str(tmp_path / "nowhere"), "--out", str(out)]) == 1
    assert capsys.readouterr().err
    assert list(out.parent.iterdir()) == []
