"""Seconds from a request to its proved adapter, in a worker that is warm."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imprint_trainer.data.session import Session, Source, Step
from imprint_trainer.doc_to_lora.evaluation.neutral import OWN, text_of
from imprint_trainer.doc_to_lora.evaluation.results import Key, Results
from imprint_trainer.jobs.worker import Worker
from imprint_trainer.protocol import TrainHypernetwork, TrainHypernetworkSpec

TOKENS = (512, 16_384)
TIMES = 3
MOST_CHUNKS = 16  # that a request reads where it names no number


@dataclass(frozen=True)
class SecondCases:
    """`hypernetwork` lies in a folder of such, as installed ones do."""

    base: Path
    base_name: str
    hypernetwork: Path
    tokenizer: Any
    device: str
    threads: int | None
    calibrated: bool

    def keys(self, _: Results) -> Iterator[Key]:
        for tokens in TOKENS:
            yield "seconds", tokens

    def case(self, key: Key, _: Results) -> dict[str, Any]:
        worker = Worker(device=self.device, threads=self.threads)
        worker.warm(str(self.base))
        with tempfile.TemporaryDirectory() as folder:
            self._imprint(worker, Path(folder), "warm", TOKENS[0])
            return {"seconds": [self._imprint(worker, Path(folder), str(n), int(key[1])) for n in range(TIMES)]}

    def _imprint(self, worker: Worker, folder: Path, name: str, tokens: int) -> float:
        path = folder / f"{name}.json"
        path.write_text(session_of(tokens, self.tokenizer).model_dump_json(), encoding="utf-8")
        spec = TrainHypernetworkSpec(
            session_path=str(path),
            session_id="s1",
            adapter_id=f"adapter-{name}",
            output_dir=str(folder / name),
            base_model=str(self.base),
            base_model_name=self.base_name,
            hypernetworks_dirs=[str(self.hypernetwork.parent)],
            task_type="code-gen",
            seed=0,
            include_unsuccessful=True,
            max_chunk_length=None,
            scaling=None if self.calibrated else 1.0,
            max_chunks=MOST_CHUNKS,
            compress_rank=None,
            refine_steps=0,
        )
        job = TrainHypernetwork(type="train_hypernetwork", job_id="0" * 26, spec=spec)
        started = time.monotonic()
        worker.run(job, emit=lambda _: None, cancelled=lambda: False)
        return round(time.monotonic() - started, 2)


def session_of(tokens: int, tokenizer: Any) -> Session:
    """About as many tokens of this evaluation's own texts, said in turns of one text."""
    steps = [Step(source="user", text="Go on.")]
    while tokens > 0:
        text = text_of(OWN[len(steps) % len(OWN)])
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        steps.append(Step(source="agent", text=tokenizer.decode(ids[:tokens])))
        tokens -= len(ids)
    return Session(
        schema_version=1,
        session_id="s1",
        source=Source(format="native", format_version=None, agent=None, model=None, sha256="0" * 64),
        task_type=None,
        outcome="unknown",
        outcome_signal=None,
        started_at=None,
        tools=(),
        steps=tuple(steps),
        bad_lines=0,
        dropped=(),
        redactions=(),
    )
