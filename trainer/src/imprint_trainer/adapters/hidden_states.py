"""Hidden states below an adapter's lowest block, which it does not change: computed once for all readings."""

from torch import Tensor

from imprint_trainer.lora.loss import Read, read_whole
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.sections import can_be_cut, entered_by, section

States = dict[tuple[int, ...], Tensor]  # by ids: what enters the first adapted block, [1, n, d]


def readers(base: LoadedBase, first_block: int) -> tuple[Read, Read]:
    """For an adapter that changes no block below `first_block`: one for its session, and one for the neutral text,
    whose states are kept while the base is resident."""
    if first_block == 0 or not can_be_cut(base.model):
        return read_whole, read_whole
    kept: States = base.memo.setdefault(f"neutral text at block {first_block}", {})
    return _reader(first_block, {}), _reader(first_block, kept)


def _reader(first_block: int, known: States) -> Read:
    def read(model: CausalLM, inputs: Tensor) -> Tensor:
        ids = tuple(inputs[0].tolist())
        if ids not in known:
            lower = section(model, 0, first_block, normed=False)
            known[ids] = lower(input_ids=inputs, use_cache=False).last_hidden_state
        upper = section(model, first_block, None, normed=True)
        with entered_by(upper, known[ids]):
            hidden: Tensor = upper(inputs_embeds=known[ids], use_cache=False).last_hidden_state
        return hidden

    return read
