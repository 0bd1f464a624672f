"""What an adapter's card says of the sweep that chose it."""

from collections.abc import Mapping, Sequence
from typing import Any

ENDS = {
    "stopped": "stopped: in the worse half",
    "finished": "trained to its end",
    "failed": "given up: its loss became NaN or infinite",
}


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


