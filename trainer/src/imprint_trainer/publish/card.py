"""README.md of an adapter: where it comes from, what was proved, how to load it."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ENDS = {
    "stopped": "stopped: in the worse half",
    "finished": "trained to its end",
    "failed": "given up: its loss became NaN or infinite",
}

NAMED = 10  # sessions that the card names
EVALUATION = "## Does it help?"
EVALUATED = re.compile(rf"^{re.escape(EVALUATION)}\n(?:(?!#).*\n?)*", re.M)
ROWS = {
    "base": "base model",
    "adapter": "with the adapter",
    "control": "with the control adapter",
    "context": "base model that reads what was trained on",
}
LICENCE = re.compile(r"\A---\n(?:[^\n]*\n)*?license: *[\"']?([A-Za-z0-9._-]{1,64})")


def model_card(
    *,
    adapter_id: str,
    base_model_name: str,
    method: str,
    task_type: str,
    payload_note: str,
    record: Mapping[str, Any],
    proof: Mapping[str, Any],
    base_licence: str | None,
    loaded_by: str = "AutoModelForCausalLM",
) -> str:
    """`record` is what training.json holds, `proof` what proof.json does."""
    sessions = record["sessions"]
    lines = [
        *front_matter(base_model_name, relation="adapter", library="peft"),
        f"# {adapter_id}",
        "",
        f"A LoRA adapter for {base_model_name}, made by Imprint from {recorded(sessions)} "
        f"(method: {method}, task type: {task_type}). {payload_note}",
        "",
        "## Proof",
        "",
        *proof_table(proof),
        "",
        *sweep_section(record.get("sweep")),
        "## Provenance",
        "",
        "| | |",
        "|---|---|",
        *(f"| session | `{entry['session_id']}`, SHA-256 `{entry['sha256']}` |" for entry in sessions[:NAMED]),
        *tested_on(record.get("plan", {})),
        *left_out(record.get("plan", {})),
        f"| base model | {base_model_name}, SHA-256 `{record['base_model']['sha256']}` |",
        f"| base model's licence | {base_licence or 'not stated in its folder'} |",
        f"| settings | {settings(record)} |",
        f"| software | {', '.join(f'{name} {version}' for name, version in record['versions'].items())} |",
        "",
        "`training.json` holds the whole request and every step's loss, `proof.json` the measurements.",
        "",
        "## How to load it",
        "",
        "```python",
        "from peft import PeftModel",
        f"from transformers import {loaded_by}",
        "",
        f'base = {loaded_by}.from_pretrained("{base_model_name}")',
        f'model = PeftModel.from_pretrained(base, "{adapter_id}")  # this folder',
        "```",
        "",
        "The adapter repeats what its session holds: share it as you would share the session.",
        "",
    ]
    return "\n".join(lines)


def merged_card(adapter: Path, *, adapter_id: str, base_model_name: str) -> str:
    """README.md of a merged model: the adapter's own card, under what the folder is."""
    lines = [
        *front_matter(base_model_name, relation="finetune", library="transformers"),
        f"# {adapter_id}, merged",
        "",
        f"{base_model_name} with the LoRA adapter {adapter_id} added to its weights by Imprint. Load it as any model: "
        "it needs no LoRA support. What follows is the adapter's own card.",
        "",
    ]
    readme = adapter / "README.md"
    own = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    body = re.sub(r"\A---\n.*?\n---\n", "", own, flags=re.DOTALL)
    return "\n".join(lines) + re.sub(r"^#", "##", body, flags=re.MULTILINE)


def with_evaluation(adapter: Path, evaluation: Mapping[str, Any]) -> str:
    """README.md of an adapter with what its evaluation found: ahead of the provenance, in place of what stood there."""
    readme = adapter / "README.md"
    own = readme.read_text(encoding="utf-8") if readme.is_file() else f"# {evaluation['adapter_id']}\n\n"
    body = EVALUATED.sub("", own)
    section = "\n".join([EVALUATION, "", *evaluation_section(evaluation), "", ""])
    place = body.find("## Provenance")
    return body[:place] + section + body[place:] if place >= 0 else f"{body.rstrip()}\n\n{section}"


def evaluation_section(evaluation: Mapping[str, Any]) -> list[str]:
    return [
        evaluation["sentence"],
        "",
        "| | loss (nats per token) | change | 95 % interval | top-1 right |",
        "|---|---|---|---|---|",
        *(
            f"| {ROWS[row['row']]} | {row['loss']:.4f} | {signed(row['change'])} | {between(row['interval'])} "
            f"| {row['top1']:.1%} |"
            for row in evaluation["rows"]
        ),
        *(
            f"| neutral text: {one['name']}, base, then adapter | {one['loss_before']:.4f}, {one['loss_after']:.4f} "
            f"| {signed(one['loss_after'] - one['loss_before'])} | | |"
            for one in evaluation["neutral"]
        ),
        "",
        *action_lines(evaluation["actions"]),
        f"On the agent's tokens of {sum(one['windows'] > 0 for one in evaluation['sessions'])} sessions, of which "
        f"{sum(one['dropped_turns'] for one in evaluation['sessions'])} turns that the training had seen were left "
        "out. `evaluation.json` holds all figures.",
    ]


def action_lines(actions: Mapping[str, Any] | None) -> list[str]:
    if actions is None:
        return []
    names = {"same_tool": "the recorded tool", "same_arguments": "its arguments too", "same_file": "the recorded file"}
    counts = [
        f"{actions['base'][name]} -> {actions['adapter'][name]} name {what} (p = {actions['p_values'][name]:.2g})"
        for name, what in names.items()
    ]
    return [f"Next actions, base -> adapter, of {actions['sampled']}: {', '.join(counts)}.", ""]


def signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.4f}"


def between(interval: Sequence[float] | None) -> str:
    return "" if interval is None else f"{interval[0]:+.4f} to {interval[1]:+.4f}"


def front_matter(base_model_name: str, *, relation: str, library: str) -> list[str]:
    return [
        "---",
        f'base_model: "{base_model_name}"',
        f"base_model_relation: {relation}",
        f"library_name: {library}",
        "pipeline_tag: text-generation",
        "tags: [lora, imprint]",
        "---",
    ]


def proof_table(proof: Mapping[str, Any]) -> list[str]:
    consumers = [name for name, accepted in proof["accepted_by"].items() if accepted]
    learned = 1 - proof["loss_after"] / proof["loss_before"] if proof["loss_before"] else 0.0
    forgotten = proof["neutral_loss_after"] / proof["neutral_loss_before"] - 1 if proof["neutral_loss_before"] else 0.0
    return [
        "| | before | after | change |",
        "|---|---|---|---|",
        f"| loss on {proof['supervised_tokens']} supervised tokens (nats) | {proof['loss_before']:.4f} "
        f"| {proof['loss_after']:.4f} | {-learned:+.1%} |",
        f"| loss on neutral text (nats) | {proof['neutral_loss_before']:.4f} | {proof['neutral_loss_after']:.4f} "
        f"| {forgotten:+.1%} |",
        *held_out_row(proof.get("held_out")),
        *imprint_lines(proof.get("imprint")),
        "",
        f"Measured on the files themselves, loaded again: {proof['keys_matched']} of {proof['keys_expected']} tensors "
        f"matched, norm of the update {proof['update_norm']:.4g}. Format accepted by: {', '.join(consumers)}.",
        *(f"- {remark}" for remark in proof["remarks"]),
    ]


def held_out_row(held_out: Mapping[str, Any] | None) -> list[str]:
    """Also says how sure the change is; proofs of hypernetworks' adapters hold nothing out."""
    if held_out is None:
        return []
    before, after, (low, high) = held_out["loss_before"], held_out["loss_after"], held_out["interval"]
    changed = f"{after / before - 1:+.1%}, " if before else ""
    return [
        f"| loss on {held_out['tokens']} held-out tokens (nats) | {before:.4f} | {after:.4f} "
        f"| {changed}95 % interval {low:+.4f} to {high:+.4f} |"
    ]


def imprint_lines(imprint: Mapping[str, Any] | None) -> list[str]:
    """Each neutral text, how much of the session was read, and at which scale the update is applied."""
    if imprint is None:
        return []
    coverage = imprint["coverage"]
    read = (f"{one['kind']} {one['characters_read'] / max(one['characters'], 1):.0%}" for one in coverage["kinds"])
    return [
        *(
            f"| of that, {one['name']} | {one['loss_before']:.4f} | {one['loss_after']:.4f} "
            f"| {one['loss_after'] / one['loss_before'] - 1:+.1%} |"
            for one in imprint["neutral"]
        ),
        "",
        f"Read: {coverage['characters_read']} of the session's {coverage['characters']} characters "
        f"({', '.join(read)}), as {coverage['tokens']} tokens in {coverage['chunks']} chunks.",
        "",
        *scale_lines(imprint["scale"], imprint["calibration"]),
    ]


def scale_lines(scale: float, calibration: Mapping[str, Any] | None) -> list[str]:
    if calibration is None:
        return [f"Scale of the generated update: {scale:g}, as asked."]
    chosen = "chosen of those tried" if calibration["helps"] else "the smallest, for it helps at none"
    return [
        f"Scale of the generated update: {scale:g}, {chosen}.",
        "",
        "| scale | loss on the session | on neutral text |",
        "|---|---|---|",
        *(f"| {tried['scale']:g} | {own_loss(tried)} | {neutral_losses(tried)} |" for tried in calibration["tried"]),
    ]


def own_loss(tried: Mapping[str, Any]) -> str:
    return "not measured" if tried["loss"] is None else f"{tried['loss']:.4f}"


def neutral_losses(tried: Mapping[str, Any]) -> str:
    return ", ".join(f"{one['name']} {one['loss']:.4f}" for one in tried["neutral"]) or "not measured"


def settings(record: Mapping[str, Any]) -> str:
    """The request as resolved, in one cell of a table."""
    values = {**record["config"], **record.get("selection", {})}
    return ", ".join(f"{name} `{json.dumps(value)}`" for name, value in sorted(values.items()) if value is not None)


def tested_on(plan: Mapping[str, Any]) -> list[str]:
    held_out = plan.get("held_out")
    if held_out is None:
        return []
    named = ", ".join(f"`{session_id}`" for session_id in held_out["sessions"][:NAMED])
    more = f" and {len(held_out['sessions']) - NAMED} more" if len(held_out["sessions"]) > NAMED else ""
    return [
        f"| held out, not trained on | of {named}{more}: measured on {held_out['windows']} windows, "
        f"{held_out['supervised_tokens']} supervised tokens |"
    ]


def left_out(plan: Mapping[str, Any]) -> list[str]:
    """Rows on the sessions that were skipped, and on turns that are supervised in another session."""
    skipped, shared = plan.get("skipped", []), plan.get("shared", [])
    return [
        *(f"| skipped | `{one['session_id']}`: {cell(one['message'])} |" for one in skipped[:NAMED]),
        *([f"| skipped | {len(skipped) - NAMED} sessions more: see training.json |"] if len(skipped) > NAMED else []),
        *(
            f"| shared turns | {one['turns']} of `{one['session_id']}`, supervised in `{one['supervised_in']}` |"
            for one in shared[:NAMED]
        ),
    ]


def cell(text: str) -> str:
    """Text that does not end its cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def recorded(sessions: Sequence[Mapping[str, Any]]) -> str:
    names = ", ".join(f"`{entry['session_id']}`" for entry in sessions[:NAMED])
    if len(sessions) == 1:
        return f"the recorded session {names}"
    more = f" and {len(sessions) - NAMED} more" if len(sessions) > NAMED else ""
    return f"{len(sessions)} recorded sessions: {names}{more}"


def licence_of(base: Path) -> str | None:
    """What the base model's own card names, where its folder holds one."""
    readme = base / "README.md"
    if not readme.is_file():
        return None
    with readme.open(encoding="utf-8", errors="replace") as file:
        found = LICENCE.match(file.read(1 << 16))
    return found.group(1) if found else None


def sweep_section(sweep: Mapping[str, Any] | None) -> list[str]:
    """`sweep` as training.json holds it; None: the adapter was trained alone."""
    if sweep is None:
        return []
    trials, text = sweep["trials"], sweep["chosen_on"]
    return [
        "## Chosen of a sweep",
        "",
        f"Of {len(trials)} trials on the same windows, trial {sweep['best']} had the lowest loss on {text['windows']} "
        f"held-out windows ({text['supervised_tokens']} supervised tokens). {honesty(len(trials), sweep['unseen'])}",
        "",
        "| trial | rank | alpha | learning rate | passes | steps | held-out loss | 95 % interval of the change | |",
        "|---|---|---|---|---|---|---|---|---|",
        *(trial_row(trial, sweep["best"]) for trial in trials),
        "",
    ]


def honesty(trials: int, unseen: Mapping[str, Any] | None) -> str:
    """How far the best of many may be believed."""
    lucky = f"The lowest of {trials} losses is in part luck on the text that chose it, and reads too low."
    if unseen is None:
        return (
            f"{lucky} Too little was held out to keep a part unseen: the held-out loss above is measured on that same "
            "text, and is optimistic. Evaluate the adapter on later sessions (`imprint evaluate`)."
        )
    return (
        f"{lucky} The held-out loss above is measured on {unseen['windows']} other windows "
        f"({unseen['supervised_tokens']} supervised tokens) that no choice saw."
    )


def trial_row(trial: Mapping[str, Any], best: int) -> str:
    number = f"**{trial['trial']}**" if trial["trial"] == best else str(trial["trial"])
    return (
        f"| {number} | {trial['rank']} | {trial['alpha']:g} | {trial['learning_rate']:g} | {trial['epochs']} "
        f"| {trial['steps']} of {trial['max_steps']} | {trial_losses(trial)} | {between(trial['interval'])} "
        f"| {ENDS.get(trial['state'], trial['state'])} |"
    )


def trial_losses(trial: Mapping[str, Any]) -> str:
    if trial["loss_after"] is None:
        return ""
    return f"{trial['loss_before']:.4f} to {trial['loss_after']:.4f}"
