"""The whole way of an adapter to its folder: written, loaded again, proved, described."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from imprint_trainer.adapters.card import licence_of, model_card
from imprint_trainer.adapters.payload import Payload, update_norm
from imprint_trainer.adapters.prove import Imprint, prove
from imprint_trainer.adapters.write import write_weights
from imprint_trainer.data.holdout import HeldOut
from imprint_trainer.data.windows import Window
from imprint_trainer.files import list_files, write_json, write_text
from imprint_trainer.models.base import LoadedBase


def save_and_prove(
    folder: Path,
    payload: Payload,
    *,
    base: LoadedBase,
    windows: Sequence[Window],
    held_out: HeldOut | None = None,
    imprint: Imprint | None = None,
    record: Mapping[str, Any],
    card: Mapping[str, Any],
    on_proving: Callable[[], None],
    stop: Callable[[], None] = lambda: None,
    warnings: Sequence[str] = (),
    partial: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The contracts' `JobResult`. `record` becomes training.json; `card` names adapter_id, base_model_name, method,
    task_type and payload_note. `partial`: `step` and `max_steps` of a training that did not end.

    `stop`, which is asked while it proves, raises Cancelled where the job was cancelled.

    Raises AdapterUnchanged, AdapterNotFinite, AdapterInvalid; the caller empties the folder then.
    """
    update_norm(payload)
    write_weights(folder, payload)
    on_proving()
    proof = prove(base, folder, windows, held_out, imprint=imprint, stop=stop)
    if partial is not None:
        proof["remarks"].append(
            f"Partial: salvaged after {partial['step']} of at most {partial['max_steps']} optimizer steps."
        )
    write_json(folder / "proof.json", proof)
    write_json(folder / "training.json", record)
    write_text(
        folder / "README.md", model_card(**card, record=record, proof=proof, base_licence=licence_of(base.folder))
    )
    return {
        "files": list_files(folder),
        "proof": proof,
        "rank": payload.rank,
        "alpha": payload.alpha,
        "warnings": list(warnings),
        **({} if partial is None else {"partial": dict(partial)}),
    }
