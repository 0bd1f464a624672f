"""Which layers an adapter sits on."""

import difflib
from collections.abc import Sequence

from torch import nn

from imprint_trainer.errors import TargetModulesNotFound
from imprint_trainer.models.causal_lm import CausalLM


def linear_layers(model: CausalLM) -> list[str]:
    """Dotted names of every linear layer but the output head, in model order."""
    head = model.get_output_embeddings()
    return [name for name, module in model.named_modules() if isinstance(module, nn.Linear) and module is not head]


def resolve_targets(model: CausalLM, requested: Sequence[str] | None) -> list[str]:
    """Sorted names as adapter_config.json holds them: `q_proj` or a dotted suffix.

    Raises TargetModulesNotFound for any without a match.
    """
    layers = linear_layers(model)
    if requested is None:
        return sorted({name.rsplit(".", 1)[-1] for name in layers})
    for target in requested:
        if not any(matches(name, target) for name in layers):
            known = sorted({name.rsplit(".", 1)[-1] for name in layers})
            near = difflib.get_close_matches(target, known, n=3, cutoff=0.4) or known
            raise TargetModulesNotFound(
                f"target_modules: {target} matches no linear layer; near are {', '.join(near[:8])}"
            )
    return sorted(set(requested))


def matches(name: str, target: str) -> bool:
    """PEFT's rule for a list of targets: the whole name, or a suffix after a dot."""
    return name == target or name.endswith(f".{target}")
