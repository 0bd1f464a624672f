"""The reference's numbers, recomputed and compared: `npm run parity -- DIR`.

Exit code 0 when every case of the folder passed, 1 otherwise.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoModelForCausalLM
from transformers.utils import logging

from d2l.batch import merge_batch
from doc_to_lora.checkpoint import RawCheckpoint, read_checkpoint, reference_config, strip_compile_prefix
from doc_to_lora.config import PerceiverAttention
from doc_to_lora.generate import build, encode
from doc_to_lora.modeling import Hypernetwork
from doc_to_lora.prompt import Affixes, family_of, render_document, split_chunks, split_into
from imprint_trainer.imprint.update import applied
from imprint_trainer.lora.adapter import Factors
from imprint_trainer.models.causal_lm import CausalLM


@dataclass(frozen=True)
class Check:
    """`worst` is the largest error as a share of what the tolerance allows: above 1 the check fails."""

    name: str
    worst: float
    note: str = ""

    @property
    def passed(self) -> bool:
        return self.worst <= 1  # false for NaN


def compare(name: str, got: Tensor, expected: Tensor, *, atol: float, rtol: float) -> Check:
    """|got - expected| <= atol * max|expected| + rtol * |expected|, for each element."""
    if got.shape != expected.shape:
        return Check(name, float("inf"), f"shape {tuple(got.shape)}, expected {tuple(expected.shape)}")
    got, expected = got.double(), expected.double()
    error = (got - expected).abs()
    allowed = atol * expected.abs().max() + rtol * expected.abs()
    ratio = torch.where(error == 0, 0.0, error / allowed)  # an all-zero tensor allows no error at all
    worst = float("nan") if bool(ratio.isnan().any()) else float(ratio.max())
    return Check(name, worst, f"max abs error {float(error.max()):.2e}")


@dataclass(frozen=True)
class Case:
    description: dict[str, Any]
    model: CausalLM
    hypernetwork: Hypernetwork
    inputs: dict[str, Tensor]
    expected: dict[str, Tensor]


def load_case(folder: Path) -> Case:
    """The base model in fp32 with eager attention, as the reference's numbers were made."""
    description = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    model = AutoModelForCausalLM.from_pretrained(
        folder / "base",
        attn_implementation="eager",
        dtype=torch.float32,
        local_files_only=True,
        use_safetensors=True,
        trust_remote_code=False,
    ).eval()
    raw, attention = _read_hypernetwork(folder)
    attention = description.get("perceiver_attention") or attention
    config = reference_config(raw, PerceiverAttention.model_validate(attention or {}))
    return Case(
        description=description,
        model=model,
        hypernetwork=build(config, raw.tensors),
        inputs=load_file(folder / "inputs.safetensors"),
        expected=load_file(folder / "expected.safetensors"),
    )


def _read_hypernetwork(folder: Path) -> tuple[RawCheckpoint, dict[str, int] | None]:
    pickled = folder / "pytorch_model.bin"
    if pickled.is_file():
        return read_checkpoint(pickled), None
    settings = json.loads((folder / "hypernet_config.json").read_text(encoding="utf-8"))
    raw = RawCheckpoint(
        tensors=strip_compile_prefix(load_file(folder / "hypernet.safetensors")),
        base_model_name_or_path=settings["base_model_name_or_path"],
        hypernet_config=settings["hypernet_config"],
        ctx_encoder_args=settings["ctx_encoder_args"],
    )
    return raw, settings.get("perceiver_attention")


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


_FIRST_ID = 1000  # chunking.json: ids count up from here, those below are affixes


def run_chunking(fixture: dict[str, Any]) -> list[Check]:
    checks = [_same(f"n={c['n']} max={c['max_chunk_len']}", _evaluation(c), _wanted(c)) for c in fixture["cases"]]
    for case in fixture.get("train_cases", []):
        name = f"train n={case['n']} {case['num_chunk_probs']}"
        checks.append(_same(name, _training(case), _wanted(case)))
    return checks


def run_texts(fixture: dict[str, Any]) -> list[Check]:
    checks = []
    for case in fixture["cases"]:
        known = family_of(case["model"]) is not None
        got = render_document(None, case["model"], case["text"]) if known else "not a family with a known template"
        checks.append(_same(f"{case['model']} {case['text'][:12]!r}", got, case["rendered"]))
    return checks


def _evaluation(case: dict[str, Any]) -> object:
    ids = range(_FIRST_ID, _FIRST_ID + case["n"])
    return _counted(split_chunks(ids, case["max_chunk_len"], _affixes(case)))


def _training(case: dict[str, Any]) -> object:
    try:
        count = sample_chunk_count(
            case["n"],
            {int(count): weight for count, weight in case["num_chunk_probs"].items()},
            min_chunk_length=case["min_chunk_len"],
            max_chunk_length=case["max_chunk_len"],
            generator=random.Random(0),
        )
    except ValueError:
        return "no feasible chunk count"
    return _counted(split_into(range(_FIRST_ID, _FIRST_ID + case["n"]), count, _affixes(case)))


def sample_chunk_count(
    length: int, weights: Mapping[int, float], *, min_chunk_length: int, max_chunk_length: int, generator: random.Random
) -> int:
    """A chunk count as the reference's training draws it: by `weights`, of those that keep slices between the lengths.

    Raises ValueError when none does.
    """
    low, high = -(-length // max_chunk_length), -(-length // min_chunk_length)
    feasible = {count: weight for count, weight in weights.items() if low <= count <= high and weight > 0}
    if not feasible:
        raise ValueError(f"no feasible chunk count: {length} ids need {low} to {high} chunks, of {sorted(weights)}")
    return generator.choices(list(feasible), weights=list(feasible.values()))[0]


def _wanted(case: dict[str, Any]) -> object:
    if "error" in case:
        return case["error"]
    chunks, edges = case["ctx_ids"], case.get("boundaries")
    own = [[i for i in chunk if i >= _FIRST_ID] for chunk in chunks]
    if edges is not None and own != [list(range(_FIRST_ID + start, _FIRST_ID + end)) for start, end in edges]:
        return "boundaries that contradict ctx_ids"
    return (case["n_ctx_chunks"], chunks)


def _counted(chunks: list[list[int]]) -> tuple[int, list[list[int]]]:
    return (len(chunks), chunks)


def _affixes(case: dict[str, Any]) -> Affixes:
    return Affixes(tuple(case["prefix"]), tuple(case["suffix"]))


def _same(name: str, got: object, wanted: object) -> Check:
    return Check(name, 0.0) if got == wanted else Check(name, float("inf"), f"got {got}, expected {wanted}")


_FILES: dict[str, Callable[[Path], list[Check]]] = {
    "chunking.json": lambda path: run_chunking(json.loads(path.read_text(encoding="utf-8"))),
    "context-text.json": lambda path: run_texts(json.loads(path.read_text(encoding="utf-8"))),
}


def cases_of(folder: Path) -> Iterator[tuple[str, Callable[[], list[Check]]]]:
    """The cases of a folder, by name; a folder that is a case itself counts as one."""
    candidates = sorted(folder.iterdir()) if folder.is_dir() else []
    if (folder / "case.json").is_file():
        candidates = [folder]
    for path in candidates:
        if path.name in _FILES:
            yield path.name, lambda path=path: _FILES[path.name](path)  # type: ignore[misc]
        elif (path / "case.json").is_file():
            yield path.name, lambda path=path: run_case(load_case(path))  # type: ignore[misc]


def run_folder(folder: Path, write: Callable[[str], object]) -> tuple[int, int]:
    """Cases passed and failed. A case that cannot be read or computed fails with the reason."""
    passed = failed = 0
    for name, run in cases_of(folder):
        write(name)
        try:
            checks = run()
        except Exception as error:  # whatever stops a case, the others still run
            checks = [Check("case", float("inf"), f"{type(error).__name__}: {error}")]
        for check in checks:
            verdict = "ok  " if check.passed else "FAIL"
            write(f"  {verdict} {check.name:<28} {check.worst:9.4f} of the tolerance  {check.note}".rstrip())
        good = bool(checks) and all(check.passed for check in checks)
        passed, failed = passed + good, failed + (not good)
    return passed, failed


def main(argv: Sequence[str]) -> int:
    if len(argv) != 1:
        print("usage: parity DIR (a folder of cases; see trainer/tests/fixtures/doc-to-lora)", file=sys.stderr)
        return 2
    logging.disable_progress_bar()
    passed, failed = run_folder(Path(argv[0]), print)
    if passed + failed == 0:
        print(f"There is no case in {argv[0]}: a case is a folder with case.json, chunking.json or context-text.json.")
        return 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
