"""Losses on supervised tokens against what the model itself says, for families whose heads do more than multiply."""

import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import BaseModelUnsupported
from imprint_trainer.lora.loss import loss_sum, read_whole
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.head import check_output_head
from imprint_trainer.models.load import load_base
from imprint_trainer.publish.losses import readers
from tiny_model import FAMILIES, write_family
from training import settings, train_tiny

KNOWN = sorted(FAMILIES.keys() - {"recurrent_gemma", "llama4_text"})
KIN_OF_LLAMA = [name for name in KNOWN if name != "falcon_h1"]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], LoadedBase]:
    folder = tmp_path_factory.mktemp("families")
    return cache(lambda name: load_base(str(write_family(folder / name, name)), quantization="none", device="cpu"))


@pytest.fixture(params=KNOWN)
def family(request: pytest.FixtureRequest, loaded: Callable[[str], LoadedBase]) -> LoadedBase:
    return loaded(request.param)


@pytest.fixture(params=KIN_OF_LLAMA)
def kin(request: pytest.FixtureRequest, loaded: Callable[[str], LoadedBase]) -> LoadedBase:
    return loaded(request.param)


def labels(window: Window) -> torch.Tensor:
    """As the library wants them: -100 where nothing is learned."""
    pairs = zip(window.input_ids, window.supervised, strict=True)
    return torch.tensor([[token if supervised else -100 for token, supervised in pairs]])


def test_the_loss_is_that_of_the_model_given_labels(family: LoadedBase, windows: list[Window]) -> None:
    for window in windows:
        with torch.no_grad():
            own = family.model(input_ids=torch.tensor([window.input_ids]), labels=labels(window)).loss
            found = loss_sum(family.model, window, family.device) / window.supervised_count
        torch.testing.assert_close(found, own, rtol=1e-5, atol=1e-5)


def test_a_training_starts_from_the_models_own_loss_and_follows_its_gradient(
    kin: LoadedBase, windows: list[Window]
) -> None:
    def own_loss(model: torch.nn.Module, window: Window) -> torch.Tensor:
        logits = model(input_ids=torch.tensor([window.input_ids])).logits[0, :-1].float()
        return torch.nn.functional.cross_entropy(logits, labels(window)[0, 1:], ignore_index=-100, reduction="sum")

    def compare(model: torch.nn.Module) -> None:
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        for parameter in parameters:
            torch.nn.init.normal_(parameter, std=0.05)
        for window in windows:
            own, found = own_loss(model, window), loss_sum(model, window, kin.device)
            torch.testing.assert_close(found, own, rtol=1e-5, atol=1e-4)
            for mine, theirs in zip(
                torch.autograd.grad(found, parameters), torch.autograd.grad(own, parameters), strict=True
            ):
                torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-4 * float(theirs.abs().max() + 1))

    trained, _ = train_tiny(kin, windows, settings(), on_model=compare)
    assert trained.losses[-1] < trained.losses[0]


@pytest.mark.parametrize("start", [1, 2, 3])
def test_what_is_read_in_two_parts_is_what_the_whole_reads(family: LoadedBase, start: int) -> None:
    ids = torch.arange(10, 74).unsqueeze(0)
    read = readers(family, start).session
    with torch.no_grad():
        torch.testing.assert_close(read(family.model, ids), read_whole(family.model, ids), rtol=1e-5, atol=1e-5)


def test_what_is_kept_of_neutral_text_is_kept_for_each_first_block(family: LoadedBase) -> None:
    ids = torch.arange(10, 74).unsqueeze(0)
    with torch.no_grad():
        whole = read_whole(family.model, ids)
        for start in (1, 2, 3, 1):
            found = readers(family, start).neutral(family.model, ids)
            torch.testing.assert_close(found, whole, rtol=1e-5, atol=1e-5)


def test_the_check_runs_one_block_and_leaves_the_model_as_it_was(kin: LoadedBase) -> None:
    names, ran = [name for name, _ in kin.model.named_modules()], []
    hooks = [block.register_forward_hook(lambda *_: ran.append(1)) for block in kin.model.model.layers]
    try:
        check_output_head(kin.model, "m")
    finally:
        for hook in hooks:
            hook.remove()
    assert len(ran) == 2  # for the model's own logits, and for the trainer's
    assert [name for name, _ in kin.model.named_modules()] == names


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rounding_to_half_precision_is_no_other_head(family: LoadedBase, dtype: torch.dtype) -> None:
    check_output_head(copy.deepcopy(family.model).to(dtype), "m")


@pytest.mark.parametrize(
    ("family", "sentence"),
    [
        ("recurrent_gemma", r"^The logits .* for strange .* RecurrentGemmaForCausalLM does"),  # a cap of another name
        ("llama4_text", r"^strange is a mixture of experts"),  # refused before its weights are read
    ],
)
@pytest.mark.parametrize("quantization", ["nf4", "none"])
def test_a_head_that_is_not_understood_refuses_the_model(
    tmp_path: Path, quantization: str, family: str, sentence: str
) -> None:
    folder = write_family(tmp_path / "strange", family)
    with pytest.raises(BaseModelUnsupported, match=sentence):
        load_base(str(folder), quantization=quantization, device="cpu")  # type: ignore[arg-type]
