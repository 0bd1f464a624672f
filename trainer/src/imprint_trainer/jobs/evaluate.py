"""An evaluation, from its specification to evaluation.json and the adapter's card that quotes it."""

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from imprint_trainer.data.session import Session, load_session
from imprint_trainer.data.sessions import UNTRAINABLE, naming
from imprint_trainer.evaluation.actions import Actions, next_actions
from imprint_trainer.evaluation.evaluate import Adapter, Tests, evaluate
from imprint_trainer.evaluation.held_out import Split, Tested, split, text_before, trained_turns, with_text_before
from imprint_trainer.evaluation.kinds import token_kinds
from imprint_trainer.evaluation.measure import Bench, Cache, Marked
from imprint_trainer.files import list_files, write_json, write_text
from imprint_trainer.generation.prompt import learned_reasoning, quantization_for
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.lora.loss import interruptible
from imprint_trainer.models.locate import locate_base, model_config
from imprint_trainer.protocol import EvaluateSpec, StagedSession
from imprint_trainer.publish.card import with_evaluation
from imprint_trainer.publish.peft_format import read_adapter_config
from imprint_trainer.publish.provenance import base_sha256, versions

MAX_LENGTH = 2048  # of a window, whatever the adapter was trained with: all adapters are read alike
FILE = "evaluation.json"


def evaluate_adapter(spec: EvaluateSpec, context: JobContext) -> dict[str, Any]:
    """The contracts' `EvaluationResult`; the files are in `spec.output_dir`."""
    context.phase("preparing_data")
    adapter = Adapter(spec.adapter_id, Path(spec.adapter_path))
    control = None if spec.control is None else Adapter(spec.control.adapter_id, Path(spec.control.path))
    for one in (adapter, control):
        if one is not None:
            read_adapter_config(one.folder)
    tokenizer = context.tokenizer(spec.base_model)
    reach = context_of(spec.base_model)
    max_length, reasoning = min(MAX_LENGTH, reach // 2), learned_reasoning(adapter.folder)
    stop = context.stop_if_cancelled  # before each session: long ones take seconds to prepare
    trained, warnings = read_trained(interruptible(spec.trained_on, stop))
    sessions, known = interruptible(spec.sessions, stop), trained_turns(trained)
    found = split(sessions, known, tokenizer, max_length=max_length, reasoning=reasoning)
    actions = next_actions(
        [(one.session, one.windows) for one in found.tested], tokenizer, most=spec.actions, seed=spec.seed
    )
    before = text_before(trained, tokenizer, max_length=max_length, reasoning=reasoning)
    tests = tests_of(found, before, actions, tokenizer, reach)
    context.phase("loading_model")
    base = context.base(spec.base_model, quantization_for(spec.adapter_path))
    context.phase("measuring")
    tick = ticker(context, tests.measurements(control=control is not None))
    bench = Bench(base, Cache(Path(spec.cache_dir)), tick, stop)
    evaluation = {
        "adapter_id": spec.adapter_id,
        **evaluate(bench, tests, adapter, control),
        "base_model": {"name": spec.base_model_name, "sha256": base_sha256(base)},
        "seed": spec.seed,
        "max_length": max_length,
        "sessions": [described(one) for one in in_order(spec, found)],
        "skipped": [one.__dict__ for one in found.skipped],
        "versions": versions(),
    }
    context.phase("saving")
    out = Path(spec.output_dir)
    write_whole(out, evaluation, with_evaluation(adapter.folder, evaluation))
    return {"files": list_files(out), "evaluation": evaluation, "warnings": [*warnings, *unread_calls(actions)]}


def context_of(base_model: str) -> int:
    """Tokens that the base model can read at once."""
    config = model_config(locate_base(base_model).folder).get_text_config()
    return int(getattr(config, "max_position_embeddings", 2**31))


def read_trained(stored: Iterable[StagedSession]) -> tuple[list[Session], list[str]]:
    """The sessions that were trained on, and a sentence on each that cannot be read any more."""
    found: list[Session] = []
    warnings: list[str] = []
    for one in stored:
        try:
            found.append(load_session(one.path).model_copy(update={"session_id": one.session_id}))
        except UNTRAINABLE as error:
            message = naming(one.session_id, error.message)
            warnings.append(f"{message} The adapter was trained on it: turns of it may be among those tested.")
    return found, warnings


def tests_of(found: Split, before: Sequence[int], actions: Actions, tokenizer: Any, reach: int) -> Tests:
    windows: list[Marked] = []
    sessions: list[str] = []
    for one in found.tested:
        kinds = token_kinds(one.session.steps, one.windows, tokenizer)
        windows += map(Marked, one.windows, kinds)
        sessions += [one.session_id] * len(one.windows)
    behind = [with_text_before(one.window, before, reach) for one in windows] if before else []
    return Tests(windows, sessions, behind, actions.sampled)


def ticker(context: JobContext, measurements: int) -> Callable[[str], None]:
    """Tells before each measurement how many are done."""
    done = count()

    def tick(what: str) -> None:
        context.stop_if_cancelled()
        measuring = {"done": next(done), "total": measurements, "what": what}
        context.emit({"type": "measuring", "measuring": measuring})

    return tick


def in_order(spec: EvaluateSpec, found: Split) -> list[Tested]:
    known = {one.session_id: one for one in (*found.tested, *found.copies)}
    return [known[one.session_id] for one in spec.sessions if one.session_id in known]


def described(one: Tested) -> dict[str, Any]:
    """The contracts' `EvaluatedSession`."""
    return {
        "session_id": one.session_id,
        "sha256": one.sha256,
        "windows": len(one.windows),
        "supervised_tokens": sum(window.supervised_count for window in one.windows),
        "dropped_turns": one.dropped_turns,
        "near_copy_of": one.near_copy_of,
    }


def unread_calls(actions: Actions) -> list[str]:
    if not actions.unread:
        return []
    return [
        f"{actions.unread} turns with a tool call are not among the next actions: their call cannot be read back from "
        "how the base model's chat template writes it."
    ]


def write_whole(out: Path, evaluation: dict[str, Any], card: str) -> None:
    """The evaluation last, and under its name only when it is whole."""
    write_text(out / "README.md", card)
    part = out / f".{FILE}.part"
    write_json(part, evaluation)
    part.replace(out / FILE)
