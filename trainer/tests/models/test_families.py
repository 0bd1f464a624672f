"""Tiny models of every family that people bring: trained, proved, resumed, asked and exported, or refused by name. The
table of docs/serving.md is made of what is shown here."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from transformers import AutoConfig

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterInvalid, BaseModelUnsupported, ExportUnsupported
from imprint_trainer.generation.generate import generate
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.load import load_base
from imprint_trainer.models.locate import model_config
from imprint_trainer.models.supported import refuse_unsupported
from imprint_trainer.publish.gguf import export_gguf
from imprint_trainer.publish.merged import export_merged
from imprint_trainer.publish.peft_format import attached, read_source
from imprint_trainer.publish.prove import prove
from lora.test_resume import assert_same, cancelled_at, resumed
from tiny_model import HYBRIDS, WITH_IMAGES, write_family
from training import saved, settings, train_tiny

PAGE = Path(__file__).parents[3] / "docs" / "serving.md"
PROMPTS = [[1, 9, 10, 11, 12, 13], [1, 5, 6, 7]]

GGUF = {
    "llama": "Llama 3, SmolLM2",
    "mistral": "Mistral, Devstral",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "smollm3": "SmolLM3",
    "phi3": "Phi-3, Phi-4",
    "granite": "Granite 3",
    "gemma3_text": "Gemma 3",
}
TRAINED = {
    "ministral3": "Ministral 3",
    "qwen3_5": "Qwen3.5, Qwen3.6",
    "granitemoehybrid": "Granite 4",
    "lfm2": "LFM2",
    "gemma4_text": "Gemma 4",
    "glm4": "GLM-4",
    "falcon_h1": "Falcon-H1",
    "nemotron_h": "Nemotron-H",
}
REFUSED = {"qwen3_moe": "Qwen3 MoE", "qwen3_5_moe": "Qwen3.5 MoE", "gpt_oss": "gpt-oss"}
IDLE = {"zamba2": 4}  # each of its shared blocks holds layers for the places of all, and cannot be merged for one
OTHERS = sorted({*HYBRIDS, *WITH_IMAGES} - {*GGUF, *TRAINED})


@pytest.mark.parametrize("family", [*GGUF, *TRAINED, *OTHERS])
def test_a_family_trains_is_proved_goes_on_from_a_checkpoint_answers_and_is_exported(
    tmp_path: Path, windows: list[Window], family: str
) -> None:
    folder = write_family(tmp_path / "base", family)
    base, training = load_base(str(folder), device="cpu"), settings(epochs=1)
    trained, payload = train_tiny(base, windows, training)
    cancelled_at(base, windows, training, tmp_path / "kept", 1)
    assert_same(resumed(base, windows, training, tmp_path / "kept"), (trained, payload))
    adapter = saved(tmp_path / "adapter", payload)
    proof = prove(base, adapter, windows)
    assert proof["keys_matched"] == proof["keys_expected"] == len(payload.tensors)
    assert proof["loss_after"] < proof["loss_before"]
    with attached(base, adapter) as model:
        assert mean_loss(model, windows, base.device) == pytest.approx(proof["loss_after"])
        assert len(idle(model, windows[0])) == IDLE.get(family, 0)
        together = generate(model, base, PROMPTS, 4, lambda: None)
        assert together == [generate(model, base, [prompt], 4, lambda: None)[0] for prompt in PROMPTS]
    if family not in WITH_IMAGES:
        (tmp_path / "merged").mkdir()
        with pytest.raises(AdapterInvalid, match="hold no weight of") if family in IDLE else nullcontext():
            export_merged(read_source(adapter), folder, tmp_path / "merged")
    if family in GGUF:
        as_gguf(adapter, folder)
    elif family in TRAINED:
        with pytest.raises(ExportUnsupported):
            as_gguf(adapter, folder)


def as_gguf(adapter: Path, base: Path) -> None:
    target = adapter.with_suffix(".gguf")
    export_gguf(read_source(adapter), model_config(base), target, adapter_id="a", base_model_name="b")


def idle(model: CausalLM, window: Window) -> list[str]:
    """Factors that move no logit."""
    ids, found = torch.tensor([window.input_ids]), []
    with torch.no_grad():
        whole = model(input_ids=ids).logits
        for name, factor in model.named_parameters():
            if "lora_B" in name:
                kept = factor.clone()
                factor.zero_()
                if torch.equal(model(input_ids=ids).logits, whole):
                    found.append(name)
                factor.copy_(kept)
    return found


@pytest.mark.parametrize("family", REFUSED)
def test_a_family_of_experts_is_refused_by_its_own_config(tmp_path: Path, family: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps(AutoConfig.for_model(family).to_dict(), default=str))
    with pytest.raises(BaseModelUnsupported, match="is a mixture of experts"):
        refuse_unsupported(tmp_path)


def listed(names: dict[str, str]) -> str:
    return ", ".join(f"{name} (`{family}`)" for family, name in names.items())


def test_the_page_lists_the_families() -> None:
    table = (
        "| bases | |\n|---|---|\n"
        f"| trained; adapters also as GGUF | {listed(GGUF)} |\n"
        f"| trained; merged for llama.cpp | {listed(TRAINED)} |\n"
        f"| mixtures of experts: refused | {listed(REFUSED)} |\n"
    )
    assert table in PAGE.read_text(encoding="utf-8")
