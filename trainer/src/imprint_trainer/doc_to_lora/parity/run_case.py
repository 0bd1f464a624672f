"""A case's tensors, recomputed step by step under the names of `expected.safetensors`."""

from collections.abc import Iterator

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.merge import merge_batch
from imprint_trainer.doc_to_lora.parity.case import Case
from imprint_trainer.doc_to_lora.parity.compare import Check, compare
from imprint_trainer.lora.adapter import Factors


def run_case(case: Case) -> list[Check]:
    """A check for every expected tensor; one that nothing computes fails."""
    with torch.no_grad():
        got = dict(_compute(case))
    mask = case.inputs["ctx_attn_mask"].bool()
    tolerance = case.description["tolerance"]
    checks = []
    for name, expected in sorted(case.expected.items()):
        if name not in got:
            checks.append(Check(name, float("inf"), "not computed"))
            continue
        pair = (got[name], expected)
        if name == "features" and pair[0].shape == expected.shape:
            pair = (_attended(got[name], mask), _attended(expected, mask))
        checks.append(compare(name, *pair, atol=tolerance["atol"], rtol=tolerance["rtol"]))
    return checks


def _compute(case: Case) -> Iterator[tuple[str, Tensor]]:
    hypernetwork, mask = case.hypernetwork, case.inputs["ctx_attn_mask"]
    features = encode(case.model, case.inputs["ctx_ids"], mask, hypernetwork.config)
    yield "features", features
    encoded = hypernetwork.aggregator.encode(features, mask)
    yield "perceiver_encoder", encoded
    latents = hypernetwork.aggregator.decode(encoded)
    yield "latents", latents
    pre_head = hypernetwork.pre_head(latents)
    yield "pre_head", pre_head
    generated = hypernetwork.generate(pre_head)
    yield from _named("generated", generated)
    n_chunks = case.inputs["n_ctx_chunks"].tolist()
    merged = merge_batch(hypernetwork, generated, n_chunks)
    yield from _named("merged", merged)
    yield "logits_base", case.model(input_ids=case.inputs["query_ids"]).logits
    yield "logits_lora", _logits(case, merged)
    scaled = case.description.get("scaled")
    if scaled is not None:
        merged = merge_batch(
            hypernetwork,
            generated,
            n_chunks,
            scalers=case.inputs.get("scalers"),
            bias_scaler=scaled.get("bias_scaler", 1.0),
            user_defined_scaling=scaled.get("user_defined_scaling", 1.0),
        )
        yield from _named("scaled.merged", merged)
        yield "scaled.logits_lora", _logits(case, merged)


def _named(prefix: str, factors: dict[str, Factors]) -> Iterator[tuple[str, Tensor]]:
    for module, pair in factors.items():
        yield f"{prefix}.{module}.A", pair.A
        yield f"{prefix}.{module}.B", pair.B


def _logits(case: Case, merged: dict[str, Factors]) -> Tensor:
    """Each document's queries under that document's LoRA: [queries, T, vocabulary]."""
    rows = []
    owner = torch.arange(len(case.inputs["n_queries"])).repeat_interleave(case.inputs["n_queries"])
    for document in range(len(case.inputs["n_queries"])):
        queries = case.inputs["query_ids"][owner == document]
        if not len(queries):
            continue
        own = {module: Factors(pair.A[document], pair.B[document]) for module, pair in merged.items()}
        with applied(case.model, own, case.hypernetwork.config):
            rows.append(case.model(input_ids=queries).logits)
    return torch.cat(rows)


def _attended(features: Tensor, mask: Tensor) -> Tensor:
    """[K, L, S, D] or [K, S, D] -> rows where the mask is set."""
    rows = features if features.dim() == 3 else features.movedim(1, 2)  # [K, S, ...]
    return rows[mask]
