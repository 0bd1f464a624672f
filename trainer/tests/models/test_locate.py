import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from imprint_trainer.errors import BaseModelInvalid, BaseModelNotFound, BaseModelUnsafe
from imprint_trainer.models.load import load_base
from imprint_trainer.models.locate import model_config, refuse_unsafe

PICKLES = [
    "pytorch_model.bin",
    "adapter_model.bin",
    "model.pt",
    "optimizer.pt",
    "rng_state.pth",
    "scheduler.pt",
    "training_args.bin",
    "tokenizer.pkl",
    "vhead.pickle",
    "model.ckpt",
]


class Canary:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize("name", PICKLES)
def test_only_pickles_are_refused_and_never_opened(tiny_copy: Path, tmp_path: Path, name: str) -> None:
    (tiny_copy / "model.safetensors").unlink()
    (tiny_copy / name).write_bytes(pickle.dumps(Canary(tmp_path / "hatched")))
    with pytest.raises(BaseModelUnsafe, match="pickle"):
        load_base(str(tiny_copy), device="cpu")
    assert not (tmp_path / "hatched").exists()


def test_pickles_beside_safetensors_are_never_opened(tiny_copy: Path, tmp_path: Path) -> None:
    for name in PICKLES:
        (tiny_copy / name).write_bytes(pickle.dumps(Canary(tmp_path / "hatched")))
    for quantization in ("nf4", "none"):
        load_base(str(tiny_copy), quantization=quantization, device="cpu")  # type: ignore[arg-type]
    assert not (tmp_path / "hatched").exists()


@pytest.mark.parametrize(
    "name", ["modeling_tiny.py", "configuration_tiny.py", "tokenization_tiny.py", "custom_generate.py", "x.so"]
)
def test_code_in_the_folder_is_refused(tiny_copy: Path, tmp_path: Path, name: str) -> None:
    (tiny_copy / name).write_text(f"open({str(tmp_path / 'hatched')!r}, 'w')")
    with pytest.raises(BaseModelUnsafe, match="code"):
        load_base(str(tiny_copy), device="cpu")
    assert not (tmp_path / "hatched").exists()


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json", "generation_config.json"])
@pytest.mark.parametrize(
    "values",
    [
        {"custom_code": "evil.py"},
        {"_attn_implementation_internal": "evil/kernels"},
        {"model_file": "evil.py"},
        {"trust_remote_code": True},
        {"text_config": {"deep": [{"auto_map": {"AutoConfig": "x.Y"}}]}},
        {"_attn_implementation": "evil/kernels"},
        {"attn_implementation": "paged|evil/kernels@main:forward"},
        {"attn_implementation": {"": "sdpa", "text_config": "evil/kernels"}},
        {"text_config": {"_attn_implementation": "evil/kernels"}},
        {"experts_implementation": "evil/kernels"},
    ],
)
def test_configurations_that_name_code_are_refused_at_any_depth(
    tiny_copy: Path, file: str, values: dict[str, Any]
) -> None:
    change(tiny_copy / file, **values)
    with pytest.raises(BaseModelUnsafe, match=file):
        load_base(str(tiny_copy), device="cpu")


AUTO_MAP = {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Evil", "AutoTokenizer": ["evil.Slow", None]}


def test_an_auto_map_is_passed_over_where_transformers_has_the_family_itself(tiny_copy: Path) -> None:
    for name in ("config.json", "tokenizer_config.json"):
        change(tiny_copy / name, auto_map=AUTO_MAP)
    base = load_base(str(tiny_copy), quantization="none", device="cpu")
    assert type(base.model).__module__ == "transformers.models.llama.modeling_llama"
    assert type(base.tokenizer).__module__.startswith("transformers.")


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("config.json", {"model_type": "evil"}),
        ("config.json", {"model_type": "vit"}),  # known, and no language model
        ("tokenizer_config.json", {"tokenizer_class": "EvilTokenizer"}),
        ("generation_config.json", {}),
    ],
)
def test_an_auto_map_is_refused_where_transformers_has_no_class(
    tiny_copy: Path, file: str, values: dict[str, Any]
) -> None:
    change(tiny_copy / file, auto_map=AUTO_MAP, **values)
    with pytest.raises(BaseModelUnsafe, match=rf"^{file} of copy names code to run \(auto_map\)"):
        load_base(str(tiny_copy), device="cpu")


def test_a_false_switch_and_built_in_attention_name_no_code(tiny_copy: Path) -> None:
    change(tiny_copy / "config.json", trust_remote_code=False, auto_map=None, _attn_implementation="flash_attention_2")
    refuse_unsafe(tiny_copy)


def test_a_bundled_adapter_is_refused(tiny_copy: Path) -> None:
    (tiny_copy / "adapter_config.json").write_text("{}")
    with pytest.raises(BaseModelUnsafe, match="adapter_config.json"):
        load_base(str(tiny_copy), device="cpu")


def test_a_prequantised_sub_folder_is_scanned_too(tiny_copy: Path) -> None:
    (tiny_copy / "nf4").mkdir()
    (tiny_copy / "nf4" / "config.json").write_text('{"auto_map": {"AutoConfig": "x.Y"}}')
    with pytest.raises(BaseModelUnsafe, match="config.json of nf4"):
        load_base(str(tiny_copy), device="cpu")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"{"),
        ("config.json", b"\xff"),
        ("config.json", b'{"model_type": "no-such-model"}'),
        ("model.safetensors", b"x" * 64),
    ],
)
def test_broken_files_make_an_invalid_model(tiny_copy: Path, name: str, content: bytes) -> None:
    (tiny_copy / name).write_bytes(content)
    with pytest.raises(BaseModelInvalid):
        load_base(str(tiny_copy), device="cpu")


def test_values_of_config_json_that_cannot_be_are_a_sentence_where_only_it_is_read(tiny_copy: Path) -> None:
    change(tiny_copy / "config.json", hidden_size="many")
    with pytest.raises(BaseModelInvalid, match="^config.json of copy cannot be read"):
        model_config(tiny_copy)


def test_truncated_weights_make_an_invalid_model(tiny_copy: Path) -> None:
    weights = (tiny_copy / "model.safetensors").read_bytes()
    (tiny_copy / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(BaseModelInvalid):
        load_base(str(tiny_copy), device="cpu")


def test_a_missing_folder_and_a_hub_id_without_permission_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IMPRINT_ALLOW_DOWNLOADS", raising=False)
    with pytest.raises(BaseModelNotFound, match="nothing-here"):
        load_base(str(tmp_path / "nothing-here"))
    with pytest.raises(BaseModelNotFound, match="IMPRINT_ALLOW_DOWNLOADS=1"):
        load_base("nobody/no-such-model")
