"""README.md of an adapter: where it comes from and what was proved."""

from collections.abc import Sequence
from typing import Any

NAMED = 10  # sessions that the card names


def model_card(
    *,
    adapter_id: str,
    base_model_name: str,
    method: str,
    task_type: str,
    sessions: Sequence[str],
    payload_note: str,
    proof: dict[str, Any],
) -> str:
    consumers = [name for name, accepted in proof["accepted_by"].items() if accepted]
    learned = 1 - proof["loss_after"] / proof["loss_before"] if proof["loss_before"] else 0.0
    forgotten = proof["neutral_loss_after"] / proof["neutral_loss_before"] - 1 if proof["neutral_loss_before"] else 0.0
    lines = [
        "---",
        f'base_model: "{base_model_name}"',
        "library_name: peft",
        "pipeline_tag: text-generation",
        "tags: [lora, imprint]",
        "---",
        f"# {adapter_id}",
        "",
        f"A LoRA adapter for {base_model_name}, made by Imprint from {recorded(sessions)} "
        f"(method: {method}, task type: {task_type}). {payload_note}",
        "",
        "| | before | after | change |",
        "|---|---|---|---|",
        f"| loss on {proof['supervised_tokens']} supervised tokens (nats) | {proof['loss_before']:.4f} "
        f"| {proof['loss_after']:.4f} | {-learned:+.1%} |",
        f"| loss on neutral text (nats) | {proof['neutral_loss_before']:.4f} | {proof['neutral_loss_after']:.4f} "
        f"| {forgotten:+.1%} |",
        "",
        f"Measured on the files themselves, loaded again: {proof['keys_matched']} of {proof['keys_expected']} tensors "
        f"matched, norm of the update {proof['update_norm']:.4g}. Format accepted by: {', '.join(consumers)}.",
        *(f"- {remark}" for remark in proof["remarks"]),
        "",
        "The adapter repeats what its session holds: share it as you would share the session.",
        "",
    ]
    return "\n".join(lines)


def recorded(sessions: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in sessions[:NAMED])
    if len(sessions) == 1:
        return f"the recorded session {names}"
    more = f" and {len(sessions) - NAMED} more" if len(sessions) > NAMED else ""
    return f"{len(sessions)} recorded sessions: {names}{more}"
