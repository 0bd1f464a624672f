import pytest

from imprint_trainer.errors import TargetModulesNotFound
from imprint_trainer.lora.adapter import resolve_targets
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.supported import linear_layers

ALL = ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]


def test_the_default_is_every_linear_layer_but_the_head(base: LoadedBase, nf4_base: LoadedBase) -> None:
    for loaded in (base, nf4_base):
        assert resolve_targets(loaded.model, None) == ALL
        assert len(linear_layers(loaded.model)) == 14


def test_names_and_dotted_suffixes_are_taken_sorted_and_once(base: LoadedBase) -> None:
    assert resolve_targets(base.model, ["v_proj", "self_attn.q_proj", "v_proj"]) == ["self_attn.q_proj", "v_proj"]


@pytest.mark.parametrize("target", ["q_projj", "proj", "lm_head", "layers.0"])
def test_a_name_without_a_layer_is_refused_with_near_ones(base: LoadedBase, target: str) -> None:
    with pytest.raises(
        TargetModulesNotFound, match=f"target_modules: {target} matches no linear layer; near are .*_proj"
    ):
        resolve_targets(base.model, ["q_proj", target])
