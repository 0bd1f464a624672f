"""README.md of a trained hypernetwork: how it was made and how its losses went."""

from collections.abc import Sequence
from pathlib import Path

from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig

POINTS = 10  # of the curve

LIMITS = """## Limits

Its adapters recall what its training data is like: short facts in prose, asked about plainly. They are no verbatim
memory of code, and a fact of another kind may not come back at all. The losses above are of training batches; run
`npm run evaluate-hypernetwork` for what its adapters do on real sessions, for facts in natural words, and to everything
else, before you rely on it. The weights fit the one base model named above.
"""


def hypernetwork_card(
    base_model_name: str,
    config: HypernetworkTrainingConfig,
    data: str,
    command: str,
    steps: int,
    metrics: Sequence[dict[str, float]],
) -> str:
    """`steps` that were done; `metrics` one dict for each of them."""
    ended = "" if steps == config.steps else f" It was stopped after {steps} of {config.steps} steps."
    lines = [
        f"# Hypernetwork for {base_model_name}",
        "",
        f"Trained by Imprint on {steps * config.documents} documents (seed {config.seed}).{ended}",
        f"Data: {data}.",
        "",
        "```",
        command,
        "```",
        "",
        f"| steps | {config.objective} loss (nats) | retention loss (nats) | documents/s |",
        "|---|---|---|---|",
        *_curve(metrics, "rest_loss" if config.objective == "rest" else "answer_loss"),
        "",
        LIMITS,
    ]
    return "\n".join(lines)


def _curve(metrics: Sequence[dict[str, float]], loss: str) -> list[str]:
    """Means over equal stretches of the training."""
    size = max(1, -(-len(metrics) // POINTS))
    lines = []
    for start in range(0, len(metrics), size):
        part = metrics[start : start + size]
        answer, retention, speed = (
            sum(step[name] for step in part) / len(part) for name in (loss, "retention_loss", "documents_per_second")
        )
        lines.append(f"| {start + 1}-{start + len(part)} | {answer:.3f} | {retention:.3f} | {speed:.1f} |")
    return lines


def write_card(folder: Path, text: str) -> None:
    (folder / "README.md").write_text(text, encoding="utf-8")
