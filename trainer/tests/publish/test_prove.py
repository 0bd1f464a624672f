import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterInvalid, AdapterNotFinite, AdapterUnchanged, Cancelled
from imprint_trainer.lora.adapter import Payload
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.load import load_base
from imprint_trainer.publish import prove as proving
from imprint_trainer.publish.peft_format import attached
from imprint_trainer.publish.prove import PROOF_TOKENS, prove, sample, save_and_prove
from training import saved, settings, train_tiny


@given(st.lists(st.integers(1, 9000), min_size=1, max_size=60))
def test_a_sample_is_all_of_a_short_training_and_a_bounded_part_of_a_long_one(lengths: list[int]) -> None:
    windows = [Window((0,) * length, (True,) * length) for length in lengths]
    chosen = sample(windows)
    assert chosen == sample(windows) == sorted(set(chosen))
    tokens = sum(lengths[index] for index in chosen)
    assert tokens <= PROOF_TOKENS
    assert len(chosen) == len(windows) or tokens + max(lengths) > PROOF_TOKENS


def trained(base: LoadedBase, windows: list[Window], folder: Path) -> Path:
    _, payload = train_tiny(base, windows, settings())
    return saved(folder, payload)


def test_a_proof_on_a_sample_says_which_windows_it_read(
    base: LoadedBase, windows: list[Window], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = trained(base, windows, tmp_path / "adapter")
    monkeypatch.setattr(proving, "PROOF_TOKENS", 1)
    (index,) = sample(windows)
    proof = prove(base, folder, windows)
    assert proof["remarks"][0] == f"Losses were measured on 1 of {len(windows)} windows, drawn at random: {index + 1}."
    assert proof["supervised_tokens"] == windows[index].supervised_count
    assert proof["loss_before"] == mean_loss(base.model, [windows[index]], base.device)


def test_the_windows_that_were_read_are_counted_from_one() -> None:
    windows = [Window((0,), (False,))] * 4
    (remark,) = proving.remark_on([0, 2, 3], windows)
    assert remark == "Losses were measured on 3 of 4 windows, drawn at random: 1, 3, 4."
    assert proving.remark_on(range(4), windows) == []


def test_neutral_texts_stand_by_name_with_both_losses() -> None:
    assert proving.compared(("mixed", "letter"), (2.0, 3.0), (2.5, 2.75)) == [
        {"name": "mixed", "loss_before": 2.0, "loss_after": 2.5},
        {"name": "letter", "loss_before": 3.0, "loss_after": 2.75},
    ]


def test_losses_that_an_adapter_does_not_change_and_such_as_are_none_are_refused() -> None:
    proving.check_losses(2.0, 1.0, 3.0, 3.0)
    proving.check_losses(2.0, 2.0, 3.0, 3.1)
    with pytest.raises(AdapterUnchanged):
        proving.check_losses(2.0, 2.0, 3.0, 3.0)
    for after, neutral in ((math.nan, 3.0), (1.0, math.inf)):
        with pytest.raises(AdapterNotFinite):
            proving.check_losses(2.0, after, 3.0, neutral)


def test_a_proof_hears_a_cancel_before_each_window(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    folder = trained(base, windows, tmp_path / "adapter")
    asked: Iterator[int] = iter(range(len(windows) + 1))

    def stop() -> None:
        if next(asked) == len(windows):  # with the adapter, the first one
            raise Cancelled

    with pytest.raises(Cancelled):
        prove(base, folder, windows, stop=stop)
    assert mean_loss(base.model, windows, base.device) == prove(base, folder, windows)["loss_before"]


CARD = {
    "adapter_id": "tiny-adapter",
    "base_model_name": "tiny",
    "method": "LoRA",
    "task_type": "code-gen",
    "payload_note": "Rank 4.",
}
RECORD = {
    "sessions": [{"session_id": "s1", "sha256": "5" * 64}],
    "config": {"seed": 11, "rank": 4},
    "base_model": {"sha256": "b" * 64},
    "versions": {"peft": "0.21.2"},
}


def finish(folder: Path, payload: Payload, base: LoadedBase, windows: list[Window]) -> dict[str, object]:
    folder.mkdir()
    return save_and_prove(
        folder, payload, base=base, windows=windows, record=RECORD, card=CARD, on_proving=lambda: None
    )


def test_the_same_training_twice_gives_the_same_bytes(
    nf4_base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    for name in ("one", "two"):
        _, payload = train_tiny(nf4_base, windows, settings())
        finish(tmp_path / name, payload, nf4_base, windows)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == ["README.md", "adapter_config.json", "adapter_model.safetensors", "proof.json", "training.json"]
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in names)


def test_stock_peft_on_a_fresh_base_gives_the_proofs_loss(
    nf4_base: LoadedBase, windows: list[Window], tiny_folder: Path, tmp_path: Path
) -> None:
    from peft import PeftModel

    _, payload = train_tiny(nf4_base, windows, settings())
    proof = finish(tmp_path / "adapter", payload, nf4_base, windows)["proof"]
    fresh = load_base(str(tiny_folder), device="cpu", dequantised=False)
    close = 1e-2 if nf4_base.computes_in == "bfloat16" else 1e-4
    assert proof["loss_before"] == pytest.approx(mean_loss(fresh.model, windows, fresh.device), abs=close)
    model = PeftModel.from_pretrained(fresh.model, tmp_path / "adapter").eval()
    assert proof["loss_after"] == pytest.approx(mean_loss(model, windows, fresh.device), abs=close)
    assert proof["loss_after"] < 0.7 * proof["loss_before"]


def test_saving_and_loading_gives_the_same_logits(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    trained_logits = []
    ids = torch.tensor([windows[0].input_ids])
    models: list[torch.nn.Module] = []

    def keep(_: object) -> None:
        with torch.no_grad():
            trained_logits[:] = [models[0](input_ids=ids).logits]

    _, payload = train_tiny(base, windows, settings(epochs=2), on_model=models.append, on_step=keep)
    with attached(base, saved(tmp_path / "adapter", payload)) as model, torch.no_grad():
        assert torch.equal(model(input_ids=ids).logits, trained_logits[0])


def test_keys_match_the_configuration(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    _, payload = train_tiny(base, windows, settings(target_modules=("q_proj", "down_proj")))
    proof = finish(tmp_path / "adapter", payload, base, windows)["proof"]
    assert proof["keys_expected"] == proof["keys_matched"] == 2 * 2 * 2
    config = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    assert config["target_modules"] == ["down_proj", "q_proj"]
    assert config["modules_to_save"] is None
    assert (config["r"], config["lora_alpha"], config["base_model_name_or_path"]) == (4, 8, "tiny")
    assert {key.split(".")[-3] for key in payload.tensors} == {"down_proj", "q_proj"}
    assert proof["accepted_by"] == {"peft": True, "vllm": True, "llama_cpp": True}


def test_the_norm_of_the_update_is_that_of_the_products(
    base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    _, payload = train_tiny(base, windows, settings())
    proof = finish(tmp_path / "adapter", payload, base, windows)["proof"]
    downs = [key for key in payload.tensors if "lora_A" in key]
    products = [8 / 4 * payload.tensors[key.replace("lora_A", "lora_B")] @ payload.tensors[key] for key in downs]
    assert proof["update_norm"] == pytest.approx(math.sqrt(sum(float((p**2).sum()) for p in products)), rel=1e-5)


def test_the_base_is_bare_again_after_a_proof(nf4_base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    loss = mean_loss(nf4_base.model, windows, nf4_base.device)
    _, payload = train_tiny(nf4_base, windows, settings())
    finish(tmp_path / "adapter", payload, nf4_base, windows)
    assert mean_loss(nf4_base.model, windows, nf4_base.device) == loss
    assert not any("lora" in name for name, _ in nf4_base.model.named_modules())


def test_an_adapter_that_changes_nothing_is_refused(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    _, payload = train_tiny(base, windows, settings(epochs=1))
    still = {key: torch.zeros_like(t) if "lora_B" in key else t for key, t in payload.tensors.items()}
    with pytest.raises(AdapterUnchanged):
        finish(tmp_path / "adapter", Payload(still, payload.config), base, windows)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_adapter_that_is_not_finite_is_refused(
    base: LoadedBase, windows: list[Window], tmp_path: Path, value: float
) -> None:
    _, payload = train_tiny(base, windows, settings(epochs=1))
    spoiled = {key: tensor.clone() for key, tensor in payload.tensors.items()}
    next(iter(spoiled.values()))[0, 0] = value
    with pytest.raises(AdapterNotFinite):
        finish(tmp_path / "adapter", Payload(spoiled, payload.config), base, windows)


def test_a_missing_or_foreign_tensor_is_refused(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    _, payload = train_tiny(base, windows, settings(epochs=1))
    last = max(payload.tensors)
    fewer = {key: tensor for key, tensor in payload.tensors.items() if key != last}
    more = dict(payload.tensors) | {"base_model.model.model.layers.9.mlp.up_proj.lora_A.weight": torch.ones(4, 64)}
    wrong = dict(payload.tensors) | {last: torch.ones(3, 3)}
    for name, tensors in [("fewer", fewer), ("more", more), ("wrong", wrong)]:
        with pytest.raises(AdapterInvalid):
            prove(base, saved(tmp_path / name, Payload(tensors, payload.config)), windows)
        assert not any("lora" in module for module, _ in base.model.named_modules())


def test_the_model_card_tells_provenance_and_proof(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    _, payload = train_tiny(base, windows, settings())
    proof = finish(tmp_path / "adapter", payload, base, windows)["proof"]
    card = (tmp_path / "adapter" / "README.md").read_text()
    assert 'base_model: "tiny"' in card
    assert f"| session | `s1`, SHA-256 `{'5' * 64}` |" in card
    assert f"| base model | tiny, SHA-256 `{'b' * 64}` |" in card
    assert "| base model's licence | not stated in its folder |" in card
    assert "| settings | rank `4`, seed `11` |" in card
    assert 'PeftModel.from_pretrained(base, "tiny-adapter")' in card
    assert f"{proof['loss_before']:.4f}" in card
    assert f"{proof['neutral_loss_after']:.4f}" in card
    assert json.loads((tmp_path / "adapter" / "proof.json").read_text()) == proof
