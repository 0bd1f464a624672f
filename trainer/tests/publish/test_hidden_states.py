from pathlib import Path

import pytest

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.adapter import Payload
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.publish.losses import readers
from imprint_trainer.publish.peft_format import attached
from imprint_trainer.publish.prove import prove
from training import saved, settings, train_tiny


@pytest.fixture
def upper(base: LoadedBase, windows: list[Window]) -> Payload:
    """An adapter of the second block alone."""
    _, payload = train_tiny(base, windows, settings(target_modules=("down_proj",)))
    tensors = {key: tensor for key, tensor in payload.tensors.items() if ".layers.1." in key}
    return Payload(tensors, {**payload.config, "layers_to_transform": [1]})


def test_the_lowest_changed_block_is_read_from_the_keys(upper: Payload) -> None:
    tensor = next(iter(upper.tensors.values()))
    assert upper.first_block == 1
    lower = {**upper.tensors, "base_model.model.model.layers.0.mlp.up_proj.lora_A.weight": tensor}
    assert Payload(lower, upper.config).first_block == 0
    assert Payload({**upper.tensors, "base_model.model.lm_head.lora_A.weight": tensor}, upper.config).first_block == 0


def test_losses_equal_those_of_whole_readings_to_the_bit(
    base: LoadedBase, windows: list[Window], upper: Payload, tmp_path: Path
) -> None:
    folder = saved(tmp_path / "adapter", upper)
    read, _ = readers(base, upper.first_block)
    before = mean_loss(base.model, windows, base.device)
    assert mean_loss(base.model, windows, base.device, read) == before
    with attached(base, folder) as model:
        after = mean_loss(model, windows, base.device)
        assert mean_loss(model, windows, base.device, read) == after
    assert after != before
    proof = prove(base, folder, windows)
    assert (proof["loss_before"], proof["loss_after"]) == (before, after)


def test_blocks_below_the_adapter_run_once_for_the_same_ids(
    base: LoadedBase, windows: list[Window], upper: Payload, tmp_path: Path
) -> None:
    runs = []
    hook = base.model.model.layers[0].register_forward_hook(lambda *_: runs.append(1))
    folder = saved(tmp_path / "adapter", upper)
    try:
        prove(base, folder, windows)
        first = len(runs)
        prove(base, folder, windows)
    finally:
        hook.remove()
    assert first == len(windows) + 2  # the neutral text, whole and up to the adapter
    assert len(runs) == first + len(windows)
