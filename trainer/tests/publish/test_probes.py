"""A proof says what comes next after fixed prompts, as the model itself says it, with the adapter and without it."""

from pathlib import Path

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.publish.losses import TEXTS
from imprint_trainer.publish.peft_format import attached
from imprint_trainer.publish.probes import LEAST, LIKELIEST, TOKENS, probes, prompts
from imprint_trainer.publish.prove import prove
from training import saved, settings, train_tiny


@torch.inference_mode()
def said(model: CausalLM, prompt: list[int]) -> torch.Tensor:
    logprobs: torch.Tensor = model(input_ids=torch.tensor([prompt])).logits[0, -1].float().log_softmax(-1)
    return logprobs


def test_probes_are_what_the_model_says_without_the_adapter_and_with_it(
    base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    _, payload = train_tiny(base, windows, settings(epochs=12, learning_rate=0.05))
    folder = saved(tmp_path / "adapter", payload)
    found = prove(base, folder, windows)["probes"]
    assert 0 < len(found) <= len(TEXTS)
    bare = [said(base.model, probe["prompt"]) for probe in found]
    with attached(base, folder) as model:
        adapted = [said(model, probe["prompt"]) for probe in found]
    for probe, before, after in zip(found, bare, adapted, strict=True):
        token = probe["token"]
        assert LEAST <= len(probe["prompt"]) <= TOKENS
        assert probe["text"] == base.tokenizer.decode([token])
        assert abs(before[token] - probe["before"]) < 1e-4
        assert abs(after[token] - probe["after"]) < 1e-4
        assert token in before.topk(LIKELIEST).indices
        assert token in after.topk(LIKELIEST).indices


def test_a_probe_is_where_the_adapter_moves_a_likely_token_most(base: LoadedBase) -> None:
    texts = len(prompts(base.tokenizer))
    before = [torch.full((4, 9), -3.0) for _ in range(texts)]
    for logprobs in before:
        logprobs[:, :5] = torch.tensor([-1.0, -1.5, -2.0, -2.1, -2.2])
    after = [logprobs.clone() for logprobs in before]
    for logprobs in after:
        logprobs[1, 0] = -1.2
        logprobs[2, 1] = -0.5  # likelier than any other then
        logprobs[3, 8] = -2.9  # moved, and unlikely both ways
    found = probes(base.tokenizer, [one.topk(LIKELIEST) for one in before], after)
    assert [(len(probe["prompt"]), probe["token"]) for probe in found] == [(LEAST + 2, 1)] * texts
    assert {(probe["before"], probe["after"]) for probe in found} == {(-1.5, -0.5)}
