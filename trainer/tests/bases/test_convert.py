import math
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from bases.gguf_double import rounded, write_gguf
from imprint_trainer.bases import progress
from imprint_trainer.bases.convert import convert
from imprint_trainer.bases.gguf_weights import ROPE_FACTORS, config_of, open_gguf
from imprint_trainer.errors import BaseModelInvalid, BaseModelNotFound, BaseModelUnsupported, DiskFull
from imprint_trainer.models.load import load_base
from imprint_trainer.publish.gguf import FAMILIES as LLAMA_CPP_TAKES
from tiny_model import FAMILIES, write_tiny_model


def silent(_: str) -> None:
    pass


def logits(folder: Path | str, quantization: Any = "none") -> torch.Tensor:
    base = load_base(str(folder), quantization=quantization, device="cpu")
    model: Any = base.model
    ids = torch.arange(3, 63).reshape(1, 60)
    with torch.inference_mode():
        return model(input_ids=ids).logits.float()


@pytest.mark.parametrize("family", ["llama", "mistral", "qwen2", "qwen3", "granite", "gemma3_text"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_model_computes_the_same_once_it_is_read_back(family: str, tied: bool, tmp_path: Path) -> None:
    settings: dict[str, Any] = {} if family == "qwen2" else {"head_dim": 16}
    if family == "gemma3_text":  # the window of every sixth layer is the whole text
        settings |= {"sliding_window": 16, "num_hidden_layers": 6, "query_pre_attn_scalar": 16}
        settings |= {"final_logit_softcapping": 5.0, "pad_token_id": 0}
        settings |= {
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 5000.0},
                "full_attention": {"rope_type": "default", "rope_theta": 10000.0},
            }
        }
    else:
        settings |= FAMILIES.get(family, {})
    given = rounded(write_tiny_model(tmp_path / "given", model_type=family, tie_word_embeddings=tied, **settings))
    model: Any = given.model
    model.save_pretrained(tmp_path / "given")
    convert(write_gguf(given, tmp_path / "tiny.gguf"), tmp_path / "read", silent, sensible=math.inf)
    assert torch.allclose(logits(tmp_path / "read"), logits(tmp_path / "given"), atol=2e-3)
    assert torch.isfinite(logits(tmp_path / "read", "nf4")).all()
    read = load_base(str(tmp_path / "read"), quantization="none", device="cpu").tokenizer
    assert (tmp_path / "read" / "llama-cpp-1-nf4.gguf").is_file() == (family in LLAMA_CPP_TAKES)
    assert read.chat_template == given.tokenizer.chat_template
    assert read.encode("def f(x): <|im_end|>") == given.tokenizer.encode("def f(x): <|im_end|>")


@pytest.fixture
def tiny(tiny_folder: Path) -> Any:
    return load_base(str(tiny_folder), quantization="none", device="cpu")


def test_a_model_that_makes_no_sense_of_text_is_refused_and_leaves_nothing(tiny: Any, tmp_path: Path) -> None:
    with pytest.raises(BaseModelInvalid, match="makes no sense of ordinary text"):
        convert(write_gguf(tiny, tmp_path / "a.gguf"), tmp_path / "models" / "out", silent, sensible=1.0)
    assert list((tmp_path / "models").iterdir()) == []


def test_what_a_conversion_left_that_was_killed_is_removed_by_the_next(tiny: Any, tmp_path: Path) -> None:
    left = tmp_path / "models" / ".making-out"
    left.mkdir(parents=True)
    (left / "half.safetensors").touch()
    convert(write_gguf(tiny, tmp_path / "a.gguf"), tmp_path / "models" / "out", silent, sensible=math.inf)
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["out"]
    assert not (tmp_path / "models" / "out" / "half.safetensors").exists()


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"expert_count": 8}, "mixture of experts"),
        ({"rope.scaling.type": "yarn"}, "scales its positions by yarn"),
        ({"rope.dimension_count": 8}, "rotates a part of each head"),
        ({"blk.0.attn_sinks.weight": torch.ones(4)}, "has a tensor blk.0.attn_sinks.weight"),
        ({ROPE_FACTORS: torch.full((8,), 3.0)}, "in another way than Llama 3.1"),
    ],
)
def test_what_would_be_computed_in_another_way_is_refused_by_name(
    tiny: Any, tmp_path: Path, extra: dict[str, Any], said: str
) -> None:
    file = write_gguf(tiny, tmp_path / "a.gguf", extra=extra)
    with pytest.raises(BaseModelUnsupported, match=said):
        convert(file, tmp_path / "out", silent, sensible=math.inf)
    assert [path.name for path in tmp_path.iterdir()] == ["a.gguf"]


def test_llama_3_1s_positions_are_known_by_their_factors(tmp_path: Path) -> None:
    rope = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0}
    rope |= {"high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    base = rounded(write_tiny_model(tmp_path / "given", head_dim=128, max_position_embeddings=2**17))
    config = AutoConfig.for_model("llama", head_dim=128, max_position_embeddings=2**17, rope_parameters=rope)
    scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, torch.device("cpu"))
    factors = 10000.0 ** -(torch.arange(0, 128, 2) / 128) / scaled
    assert factors.min() < 1.01 < 7.99 < factors.max()
    file = write_gguf(base, tmp_path / "a.gguf", extra={ROPE_FACTORS: factors})
    assert config_of(open_gguf(file)).rope_parameters == pytest.approx(rope)


def test_a_family_that_is_not_known_is_refused_by_name(tmp_path: Path) -> None:
    phi = {"pad_token_id": 0}
    base = load_base(str(write_tiny_model(tmp_path / "phi", model_type="phi3", **phi)), quantization="none")
    with pytest.raises(BaseModelUnsupported, match="of the family phi3, and GGUF is read of gemma3, granite, llama"):
        convert(write_gguf(base, tmp_path / "a.gguf"), tmp_path / "out", silent)


def test_a_full_disk_is_said_before_anything_is_written(
    tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_gguf(tiny, tmp_path / "a.gguf")
    monkeypatch.setattr(progress.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10**6}))
    with pytest.raises(DiskFull, match=r"about 0.3 GB are needed in .*, and 0.0 GB are free"):
        convert(file, tmp_path / "models" / "out", silent)
    assert not (tmp_path / "models").exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BaseModelNotFound, match="no.gguf"):
        convert(tmp_path / "no.gguf", tmp_path / "out", silent)


@pytest.mark.parametrize("content", [b"", b"not a gguf at all", b"GGUF\x03\x00\x00\x00" + b"\xff" * 64])
def test_a_broken_file_leaves_nothing_behind(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.gguf").write_bytes(content)
    with pytest.raises(BaseModelInvalid, match="bad.gguf"):
        convert(tmp_path / "bad.gguf", tmp_path / "models" / "out", silent)
    assert not (tmp_path / "models").exists()


def test_a_file_that_ends_early_is_refused(tiny: Any, tmp_path: Path) -> None:
    file = write_gguf(tiny, tmp_path / "cut.gguf")
    file.write_bytes(file.read_bytes()[:-4096])
    with pytest.raises(BaseModelInvalid, match=r"cut.gguf cannot be read as GGUF"):
        convert(file, tmp_path / "models" / "out", silent)


def test_somebody_elses_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("kept")
    with pytest.raises(BaseModelInvalid, match="holds something else"):
        convert(tmp_path / "a.gguf", tmp_path / "out", silent)
    assert (tmp_path / "out" / "precious").read_text() == "kept"


def test_a_converted_model_is_not_converted_again(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(parents=True)
    (tmp_path / "out" / "config.json").write_text("{}")
    said: list[str] = []
    convert(tmp_path / "gone.gguf", tmp_path / "out", said.append)
    assert said == ["out is there already"]
