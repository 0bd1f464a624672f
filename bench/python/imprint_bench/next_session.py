"""`python -m imprint_bench.next_session`: trains on the sessions before the newest of a repository, tests on that one.
With --imprint it imprints the first windows of the newest that is long enough, and tests on those right after them.

A group is a folder of canonical sessions of one repository by one agent, named in the order of time, itself named
`AGENT-REPOSITORY`. Each arm is a line of JSON in the file of results as soon as it is measured; what stands there is
not measured again. Losses are in nats a token, changes are shares of the base's loss.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean, median
from typing import Any

from imprint_trainer.data.names import Named, another_pass, other_words
from imprint_trainer.data.prepare import Prepared, prepare_windows
from imprint_trainer.data.session import Session, load_session
from imprint_trainer.data.sessions import UNTRAINABLE
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import NothingToEvaluate
from imprint_trainer.evaluation.held_out import split, trained_turns
from imprint_trainer.imprint.calibrate import calibrate
from imprint_trainer.imprint.folder import load
from imprint_trainer.imprint.update import Hypernetwork, Limits, applied
from imprint_trainer.lora.adapter import fresh_adapter, resolve_targets
from imprint_trainer.lora.loss import token_losses
from imprint_trainer.lora.steps import LoraTraining, default_rate, in_parts, plan_steps, step_tokens, supervised_tokens
from imprint_trainer.lora.train import train
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.models.device import fix_numerics, pick_device
from imprint_trainer.models.load import load_base
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.protocol import StagedSession
from imprint_trainer.publish.losses import TEXTS, Change, interval, mean_change, neutral_window, readers

SEED = 7
LEAST_SUPERVISED = 300  # tokens: a session with fewer says too little to train or to test on
UNRELATED = 2  # sessions that are tested as well: one of the same agent where there is one, one of another

Losses = list[list[float]]  # of each window, of each of its supervised tokens


@dataclass(frozen=True)
class Recorded:
    path: Path
    session: Session
    windows: tuple[Window, ...]


@dataclass
class Study:
    base: LoadedBase
    options: argparse.Namespace
    _recorded: dict[Path, Recorded | None] = field(default_factory=dict)
    _of_base: dict[tuple[Window, ...], Losses] = field(default_factory=dict)

    def arm(self, folder: Path, count: int) -> dict[str, Any]:
        """One training on the `count` sessions before the group's newest, and what it changes.

        Raises NothingToEvaluate.
        """
        options, base = self.options, self.base
        *before, newest = self.newest(folder, count + 1)
        if len(before) < count:
            raise NothingToEvaluate(f"{folder.name} has no {count} sessions before the newest one")
        texts = {"own": self.tested(newest, before), **self.others(folder)}
        bare = self.bare(texts)
        windows = [window for one in before for window in one.windows[: options.trained_windows]]
        step, width = step_tokens(supervised_tokens(windows), "learn"), base.model.config.get_text_config().hidden_size
        training = LoraTraining(seed=SEED, profile="learn", learning_rate=default_rate(width, step=step))
        learned = in_parts(windows, training)
        named = Named()
        for one in before:
            named.add(one.session)
        steps = plan_steps(learned, training, renamed=bool(named.arguments()))
        again = [in_parts(one, training, least=steps.per_epoch) for one in self.again(before, named, steps.max_epochs)]
        targets, started = resolve_targets(base.model, None), time.monotonic()
        with fresh_adapter(base, rank=training.rank, alpha=training.alpha, targets=targets, seed=SEED) as model:

            def on_step(progress: dict[str, Any]) -> None:
                step, speed, loss = progress["step"], progress["tokens_per_second"], progress["loss"]
                say(f"  step {step} of {steps.maximum}: {loss:.3f}, {speed:.0f} tokens/s")

            memory = PeakMemory(base.device)
            trained = train(
                model, learned, training, steps, again=again, device=base.device, memory=memory, on_step=on_step
            )
            seconds = time.monotonic() - started
            model.eval()
            after = self.every(model, texts)
        return {
            "group": folder.name,
            "sessions": count,
            "learning_rate": training.learning_rate,
            "trained_windows": len(windows),
            "trained_tokens": sum(len(window.input_ids) for window in windows),
            "supervised_tokens": sum(window.supervised_count for window in windows),
            "steps": len(trained.losses),
            "stopped": trained.stopped,
            "epoch_losses": list(trained.epoch_losses),
            "seconds": round(seconds),
            "peak_mb": round(memory.mb()),
            **compared(texts["own"], bare["own"], after["own"]),
            **aside(texts, bare, after),
        }

    def imprinted(self, hypernetwork: Hypernetwork, folder: Path, count: int) -> dict[str, Any]:
        """One imprint of the first `count` windows of the newest session that has others after them, and what it
        changes. Raises NothingToEvaluate."""
        options, base = self.options, self.base
        long = (one for one in self.sessions(folder) if len(one.windows) >= count + options.tested_windows)
        if (source := next(long, None)) is None:
            raise NothingToEvaluate(f"{folder.name} has no session of {count} windows and those to test on")
        read, after = source.windows[:count], source.windows[count : count + options.tested_windows]
        texts = {"read": read, "own": after, **self.others(folder)}
        bare = self.bare(texts)
        by = readers(base, min(hypernetwork.config.layer_indices))
        started = time.monotonic()
        limits = Limits(count, options.window, None)
        made = hypernetwork.imprint(base, source.session, lambda: read, limits, read=by.anew, stop=lambda: None)
        found = calibrate(base, made, read, by)
        seconds = time.monotonic() - started
        with applied(base.model, made.update.factors, made.config, scaling=found.scale):
            changed = self.every(base.model, texts)
        return {
            "group": folder.name,
            "sessions": count,
            "scale": found.scale,
            "seconds": round(seconds, 1),
            "read": share(bare["read"], changed["read"]),
            **compared(after, bare["own"], changed["own"]),
            **aside(texts, bare, changed),
        }

    def others(self, folder: Path) -> dict[str, tuple[Window, ...]]:
        """One window each of unrelated sessions, and the neutral texts."""
        texts = {
            other.name: self.newest(other, 1)[0].windows[:1] for other in unrelated(folder, self.options.unrelated)
        }
        return texts | {name: (neutral_window(self.base.tokenizer, name),) for name in TEXTS}

    def bare(self, texts: Mapping[str, tuple[Window, ...]]) -> dict[str, Losses]:
        return {name: self.losses_of_base(windows) for name, windows in texts.items()}

    def every(self, model: CausalLM, texts: Mapping[str, tuple[Window, ...]]) -> dict[str, Losses]:
        return {name: self.losses(model, windows) for name, windows in texts.items()}

    def newest(self, folder: Path, most: int) -> list[Recorded]:
        """The newest sessions, oldest first."""
        return list(islice(self.sessions(folder), most))[::-1]

    def sessions(self, folder: Path) -> Iterator[Recorded]:
        """From the newest on, without those that cannot be trained, or teach too little."""
        for path in sorted(folder.glob("*.json"), reverse=True):
            if path not in self._recorded:
                self._recorded[path] = self.recorded(path)
            if (found := self._recorded[path]) is not None:
                yield found

    def recorded(self, path: Path) -> Recorded | None:
        try:
            session = load_session(path)
            prepared = self.prepared(session)
        except UNTRAINABLE:
            return None
        return Recorded(path, session, prepared.windows) if prepared.supervised_tokens >= LEAST_SUPERVISED else None

    def prepared(self, session: Session) -> Prepared:
        """As `learn` reads it."""
        tokenizer, length = self.base.tokenizer, self.options.window
        return prepare_windows(
            session, tokenizer, max_length=length, include_unsuccessful=True, train_on="successful_steps"
        )

    def again(self, before: Sequence[Recorded], named: Named, passes: int) -> Iterator[list[Window]]:
        """What the passes after the first read."""
        arguments, pool = named.arguments(), other_words(self.base.tokenizer.get_vocab(), named.said)
        for number in range(1, passes) if arguments else ():
            sessions = [another_pass(one.session, arguments, pool, number, whole=False) for one in before]
            found = [self.prepared(session).windows for session in sessions]
            yield [window for windows in found for window in windows[: self.options.trained_windows]]

    def tested(self, newest: Recorded, before: Sequence[Recorded]) -> tuple[Window, ...]:
        """Without the turns that a trained session holds."""
        staged = StagedSession(session_id=newest.session.session_id, path=str(newest.path))
        known = trained_turns([one.session for one in before])
        found = split([staged], known, self.base.tokenizer, max_length=self.options.window, reasoning=False)
        return found.tested[0].windows[: self.options.tested_windows]

    def losses_of_base(self, windows: tuple[Window, ...]) -> Losses:
        if windows not in self._of_base:
            self._of_base[windows] = self.losses(self.base.model, windows)
        return self._of_base[windows]

    def losses(self, model: CausalLM, windows: Sequence[Window]) -> Losses:
        return [token_losses(model, window, self.base.device)[0].tolist() for window in windows]


def unrelated(group: Path, others: Sequence[Path]) -> list[Path]:
    """The first of the same agent, then the first of others."""
    agent = agent_of(group)
    others = [other for other in others if other.name != group.name]
    same = [other for other in others if agent_of(other) == agent][:1]
    return [*same, *(other for other in others if agent_of(other) != agent)][:UNRELATED]


def agent_of(folder: Path) -> str:
    return folder.name.partition("-")[0]


def mean(losses: Losses) -> float:
    return fmean(loss for window in losses for loss in window)


def share(before: Losses, after: Losses) -> float:
    return mean(after) / mean(before) - 1


def aside(texts: Mapping[str, Any], before: Mapping[str, Losses], after: Mapping[str, Losses]) -> dict[str, Any]:
    """What changed beside the repository's own sessions."""
    changes = {name: share(before[name], after[name]) for name in texts if name not in {"own", "read"}}
    neutral = {name: changes.pop(name) for name in TEXTS}
    return {"unrelated": changes, "neutral": neutral}


def turns(windows: Sequence[Window], losses: Losses) -> Iterator[float]:
    """The mean loss of each answer."""
    for window, found in zip(windows, losses, strict=True):
        at = window.targets
        for _, start, end in window.answer_spans:
            if chosen := [loss for index, loss in zip(at, found, strict=True) if start <= index < end]:
                yield fmean(chosen)


def compared(windows: Sequence[Window], before: Losses, after: Losses) -> dict[str, Any]:
    """Means, medians over tokens and over turns, and the change's 95 % interval from a bootstrap over windows."""
    base, units = mean(before), [Change(len(b), sum(b), sum(a)) for b, a in zip(before, after, strict=True)]
    drawn = interval(units, mean_change, SEED)
    return {
        "windows": [[one.tokens, one.before, one.after] for one in units],
        "base": base,
        "loss": mean(after),
        "change": share(before, after),
        "interval": None if drawn is None else [bound / base for bound in drawn],
        "median": [median(loss for window in losses for loss in window) for losses in (before, after)],
        "median_of_turns": [median(turns(windows, losses)) for losses in (before, after)],
        "turns": len(list(turns(windows, before))),
    }


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m imprint_bench.next_session", description=__doc__)
    parser.add_argument("--base", required=True, help="folder of the base model")
    parser.add_argument("--groups", type=Path, nargs="+", required=True, help="folders, in the order of work")
    parser.add_argument("--unrelated", type=Path, nargs="*", default=[], help="groups tested too")
    parser.add_argument("--results", type=Path, required=True, help="file of one JSON object a line")
    parser.add_argument("--sessions", type=int, nargs="+", default=[1], help="sessions to train on, windows to imprint")
    parser.add_argument("--imprint", type=Path, help="folder of a hypernetwork: imprint instead of training")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--trained-windows", type=int, default=3, help="of each session, the first ones")
    parser.add_argument("--tested-windows", type=int, default=3, help="of the newest session, the first ones")
    parser.add_argument("--window", type=int, default=1024, help="tokens")
    options = parser.parse_args(argv)
    kept = options.results.read_text().splitlines() if options.results.is_file() else []
    done = {(one["group"], one["sessions"]) for one in map(json.loads, kept)}
    arms = [(folder, count) for count in options.sessions for folder in options.groups]
    left = [(folder, count) for folder, count in arms if (folder.name, count) not in done]
    if not left:
        return 0
    fix_numerics(pick_device(options.device))
    study = Study(load_base(options.base, device=options.device, dequantised=True), options)
    measure = study.arm
    if options.imprint is not None:
        measure = partial(study.imprinted, load(options.imprint, study.base.device))
    for folder, count in left:
        try:
            found = measure(folder, count)
        except NothingToEvaluate as error:
            say(f"{folder.name}: {error.message}")
            continue
        with options.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        say(f"{folder.name}, {count}: {found['change']:+.1%}, {found['seconds']} s")
    return 0


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
