import pytest

from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.publish.losses import TEXTS, neutral_loss_of_base, neutral_window


@pytest.mark.parametrize("name", TEXTS)
def test_every_token_of_a_neutral_text_but_the_first_is_measured(base: LoadedBase, name: str) -> None:
    window = neutral_window(base.tokenizer, name)
    assert 200 < len(window.input_ids) <= 512
    assert window.supervised == (False,) + (True,) * (len(window.input_ids) - 1)


def test_the_bases_own_loss_is_measured_once(base: LoadedBase) -> None:
    loss = neutral_loss_of_base(base)
    assert loss == pytest.approx(mean_loss(base.model, [neutral_window(base.tokenizer)], base.device))
    base.model.get_input_embeddings().weight.data.zero_()
    assert neutral_loss_of_base(base) == loss
