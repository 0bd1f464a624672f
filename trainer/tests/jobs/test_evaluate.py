import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from conftest import snapshot
from data.sessions import agent, session_json, session_of, system, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterInvalid, AdapterNotFinite, Cancelled, NothingToEvaluate
from imprint_trainer.evaluation import measure, verdict
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.evaluate import evaluate_adapter
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.protocol import EvaluateSpec
from publish.sources import random_payload, write_adapter
from schema import SCHEMAS, faults
from training import saved, settings, train_tiny

RESULT = next(
    option["properties"]["result"]
    for option in SCHEMAS["WorkerEvent"]["anyOf"]
    if option["properties"]["type"].get("const") == "done"
)


def steps(word: str, count: int = 3) -> list[dict[str, Any]]:
    call = ("bash", json.dumps({"command": f"pytest {word}"}), "2 passed")
    turns = [(user(f"Fix {word} {number}."), agent(f"I fix {word} {number}.", call)) for number in range(count)]
    return [step for pair in turns for step in pair]


class Bench:
    """Adapters and sessions in a folder, and an evaluation of them."""

    def __init__(self, base: LoadedBase, folder: Path) -> None:
        self.base, self.folder = base, folder
        self.events: list[dict[str, Any]] = []

    def session(self, session_id: str, written: list[dict[str, Any]], **changes: Any) -> dict[str, str]:
        path = self.folder / f"{session_id}.json"
        path.write_text(json.dumps(session_json(written, session_id=session_id, **changes)))
        return {"session_id": session_id, "path": str(path)}

    def trained(self, name: str, *sessions: Session) -> Path:
        windows = [
            window for one in sessions for window in prepare_windows(one, self.base.tokenizer, max_length=256).windows
        ]
        _, payload = train_tiny(self.base, windows, settings(epochs=6, learning_rate=3e-3))
        return described(saved(self.folder / name, payload))

    def noise(self, name: str, size: float = 0.5, seed: int = 3) -> Path:
        payload = random_payload(self.base.model, size=size, seed=seed)
        return described(write_adapter(self.folder / name, payload))

    def spec(self, adapter: Path, sessions: list[dict[str, str]], **changes: Any) -> EvaluateSpec:
        fields = {
            "adapter_id": adapter.name,
            "adapter_path": str(adapter),
            "base_model": str(self.base.folder),
            "base_model_name": "tiny",
            "sessions": sessions,
            "trained_on": [],
            "control": None,
            "actions": 0,
            "seed": 4,
            "cache_dir": str(self.folder / "cache"),
            "output_dir": str(self.folder / "out"),
        }
        return EvaluateSpec.model_validate(fields | changes)

    def run(self, spec: EvaluateSpec, cancelled: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        out = Path(spec.output_dir)
        out.mkdir(exist_ok=True)
        for path in out.iterdir():
            path.unlink()
        self.events.clear()
        memory = PeakMemory(torch.device("cpu"))
        context = JobContext(self.events.append, cancelled, lambda *_: self.base, lambda _: self.base.tokenizer, memory)
        result = evaluate_adapter(spec, context)
        assert faults(result, RESULT) == []
        assert json.loads((out / "evaluation.json").read_text()) == result["evaluation"]
        return result

    def evaluation(self, spec: EvaluateSpec) -> dict[str, Any]:
        evaluation: dict[str, Any] = self.run(spec)["evaluation"]
        return evaluation


def described(adapter: Path) -> Path:
    (adapter / "training.json").write_text(json.dumps({"base_model": {"quantization": "none"}}))
    (adapter / "README.md").write_text(f"# {adapter.name}\n\n## Proof\n\nIt learned.\n\n## Provenance\n\nFrom here.\n")
    return adapter


@pytest.fixture
def bench(base: LoadedBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(measure, "TOKENS", 8)
    return Bench(base, tmp_path)


def rows_of(evaluation: dict[str, Any]) -> dict[str, Any]:
    return {row["row"]: row for row in evaluation["rows"]}


def test_an_adapter_of_the_very_sessions_helps_and_one_of_noise_does_not(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdict, "LEAST_TOKENS", 100)
    written = {name: steps(name) for name in ("parser", "server", "client", "schema", "router")}
    own = bench.trained("own", *(session_of(*one) for one in written.values()))
    sessions = [bench.session(name, one) for name, one in written.items()]
    helpful = bench.evaluation(bench.spec(own, sessions))
    noisy = bench.evaluation(bench.spec(bench.noise("noise"), sessions))
    adapter = rows_of(helpful)["adapter"]
    assert adapter["interval"][1] < 0
    assert adapter["change"] == pytest.approx(adapter["loss"] - rows_of(helpful)["base"]["loss"])
    assert adapter["median"] < rows_of(helpful)["base"]["median"]
    assert adapter["median_of_turns"] < rows_of(helpful)["base"]["median_of_turns"]
    assert rows_of(noisy)["adapter"]["interval"][0] > 0
    assert (helpful["verdict"], noisy["verdict"]) == ("helps", "harms")
    assert helpful["sentence"].startswith("It helps: on 5 sessions")


def test_two_short_sessions_tell_nothing_whatever_the_adapter(bench: Bench) -> None:
    written = {name: steps(name) for name in ("parser", "server")}
    own = bench.trained("own", *(session_of(*one) for one in written.values()))
    sessions = [bench.session(name, one) for name, one in written.items()]
    found = bench.evaluation(bench.spec(own, sessions))
    card = (bench.folder / "out" / "README.md").read_text()
    assert found["verdict"] == "too_little_to_tell"
    assert f"on 2 sessions of {rows_of(found)['adapter']['tokens']} tokens" in found["sentence"]
    assert found["sentence"] in card


def test_rows_are_the_losses_of_the_windows_that_training_would_see(bench: Bench) -> None:
    written = [steps("parser"), steps("server", 4)]
    sessions = [bench.session(f"s{number}", one) for number, one in enumerate(written)]
    noise = bench.noise("noise", 0.1)
    base = rows_of(bench.evaluation(bench.spec(noise, sessions)))["base"]
    windows = [prepare_windows(session_of(*one), bench.base.tokenizer, max_length=256).windows for one in written]
    whole = [window for one in windows for window in one]
    assert base["loss"] == pytest.approx(mean_loss(bench.base.model, whole, bench.base.device), rel=1e-6)
    assert base["tokens"] == sum(window.supervised_count for window in whole)
    assert [one["loss"] for one in base["sessions"]] == [
        pytest.approx(mean_loss(bench.base.model, one, bench.base.device), rel=1e-6) for one in windows
    ]
    assert sum(kind["tokens"] for kind in base["kinds"]) == base["tokens"]
    mean = sum(kind["tokens"] * kind["loss"] for kind in base["kinds"]) / base["tokens"]
    assert mean == pytest.approx(base["loss"])
    assert {kind["kind"] for kind in base["kinds"]} == {"tool_name", "command", "prose"}


def test_a_control_and_the_text_that_was_trained_on_are_rows_of_their_own(bench: Bench) -> None:
    trained = bench.session("old", steps("parser"))
    tested = bench.session("new", steps("server"))
    noise, other = bench.noise("noise", 0.1), bench.noise("other", 0.1, seed=9)
    spec = bench.spec(
        noise, [tested], trained_on=[trained], control={"adapter_id": "other", "path": str(other)}, actions=0
    )
    rows = rows_of(bench.evaluation(spec))
    assert list(rows) == ["base", "adapter", "control", "context"]
    assert (rows["control"]["adapter_id"], rows["context"]["adapter_id"]) == ("other", None)
    assert len({row["loss"] for row in rows.values()}) == 4
    assert {row["tokens"] for row in rows.values()} == {rows["base"]["tokens"]}
    alone = rows_of(bench.evaluation(bench.spec(other, [tested])))
    assert alone["adapter"]["loss"] == rows["control"]["loss"]
    assert "context" not in alone


def test_what_was_trained_on_is_left_out_by_name(bench: Bench) -> None:
    noise = bench.noise("noise", 0.1)
    old, copy = bench.session("old", steps("parser")), bench.session("copy", steps("parser"))
    new = bench.session("new", [*steps("server"), *steps("parser", 1)])
    failed = bench.session("failed", steps("x"), outcome="failure")
    gone = {"session_id": "gone", "path": str(bench.folder / "gone.json")}
    result = bench.run(bench.spec(noise, [old, copy, failed, new], trained_on=[old, gone]))
    evaluation = result["evaluation"]
    assert [(one["session_id"], one["near_copy_of"], one["windows"] > 0) for one in evaluation["sessions"]] == [
        ("old", "old", False),
        ("copy", "old", False),
        ("new", None, True),
    ]
    assert evaluation["sessions"][2]["dropped_turns"] == 1
    assert [(one["session_id"], one["code"]) for one in evaluation["skipped"]] == [
        ("old", "SESSION_TRAINED_ON"),
        ("copy", "SESSION_TRAINED_ON"),
        ("failed", "SESSION_UNSUCCESSFUL"),
    ]
    assert "on 1 session" in evaluation["sentence"]
    assert "gone" in result["warnings"][0]
    assert str(bench.folder) not in json.dumps(result)
    with pytest.raises(NothingToEvaluate, match="trained on session old"):
        bench.run(bench.spec(noise, [old], trained_on=[old]))


def test_next_actions_are_counted_for_base_and_adapter(bench: Bench) -> None:
    sessions = [bench.session("s", steps("parser", 5)), bench.session("t", [user("Hi."), agent("Hello.")])]
    found = bench.evaluation(bench.spec(bench.noise("noise"), sessions, actions=3))["actions"]
    assert found["sampled"] == 3
    assert found["base"] == dict.fromkeys(found["base"], 0)  # the tiny model calls nothing
    assert found["p_values"]["same_tool"] == 1.0
    assert bench.evaluation(bench.spec(bench.folder / "noise", sessions[1:], actions=3))["actions"] is None


def test_the_same_evaluation_makes_the_same_bytes(bench: Bench) -> None:
    sessions = [bench.session("s", steps("parser", 5)), bench.session("t", steps("server"))]
    noise, out = bench.noise("noise"), bench.folder / "out"
    spec = bench.spec(noise, sessions, actions=2, trained_on=[bench.session("old", steps("client"))])
    bench.run(spec)
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(first) == ["README.md", "evaluation.json"]
    bench.run(spec)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    bench.run(spec.model_copy(update={"cache_dir": str(bench.folder / "fresh")}))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    bench.run(spec.model_copy(update={"seed": 5}))
    assert {path.name: path.read_bytes() for path in out.iterdir()} != first


def test_an_interrupted_evaluation_goes_on_where_it_was(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "AT_ONCE", 1)
    sessions = [bench.session(f"s{number}", steps(f"word{number}")) for number in range(4)]
    spec = bench.spec(bench.noise("noise"), sessions)
    measured: list[Window] = []
    token_losses = measure.token_losses

    def counting(model: Any, window: Window, device: torch.device) -> Any:
        measured.append(window)
        return token_losses(model, window, device)

    monkeypatch.setattr(measure, "token_losses", counting)
    before = snapshot(bench.base.model)  # type: ignore[arg-type]
    with pytest.raises(Cancelled):
        bench.run(spec, lambda: len(measured) == 6)
    assert list((bench.folder / "out").iterdir()) == []
    assert len(measured) == 6
    measured.clear()
    whole = bench.run(spec)
    total = bench.events[-2]["measuring"]["total"]
    assert len(measured) == total - 6
    measured.clear()
    other = bench.spec(bench.noise("other", seed=8), sessions)
    bench.run(other)
    assert len(measured) == total // 2  # the base's are shared
    fresh = spec.model_copy(update={"cache_dir": str(bench.folder / "fresh")})
    assert bench.run(fresh)["evaluation"] == whole["evaluation"]
    after = snapshot(bench.base.model)  # type: ignore[arg-type]
    assert before.keys() == after.keys()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())


def test_damaged_measurements_are_made_again(bench: Bench) -> None:
    spec = bench.spec(bench.noise("noise"), [bench.session("s", steps("parser"))])
    whole = bench.run(spec)
    kept = sorted((bench.folder / "cache").iterdir())
    for path, text in zip(kept, ["", "{", "[]", '{"value": []}'], strict=True):
        path.write_text(text)
    assert bench.run(spec) == whole
    kept[0].write_text(kept[0].read_text().replace("[[", '[["'))
    kept[1].write_text(kept[2].read_text())
    entry = json.loads(kept[3].read_text())
    kept[3].write_text(json.dumps(entry | {"value": entry["value"][:-1]}))
    assert bench.run(spec) == whole


def test_progress_counts_every_measurement(bench: Bench) -> None:
    trained = bench.session("old", steps("client"))
    spec = bench.spec(bench.noise("noise"), [bench.session("s", steps("parser"))], actions=2, trained_on=[trained])
    bench.run(spec)
    told = [event["measuring"] for event in bench.events if event["type"] == "measuring"]
    assert [one["done"] for one in told] == list(range(told[0]["total"]))
    assert len({one["what"] for one in told}) == 7
    assert [event["phase"] for event in bench.events if event["type"] == "phase"] == [
        "preparing_data",
        "loading_model",
        "measuring",
        "saving",
    ]


def test_generation_hears_a_cancel_between_tokens(bench: Bench) -> None:
    spec = bench.spec(bench.noise("noise"), [bench.session("s", steps("parser"))], actions=2)
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += any("next actions" in event.get("measuring", {}).get("what", "") for event in bench.events)
        return asked == 5

    with pytest.raises(Cancelled):
        bench.run(spec, cancelled)
    assert asked == 5
    assert len([event for event in bench.events if "next" in str(event)]) == 1


def test_a_cancel_is_heard_between_sessions(bench: Bench) -> None:
    sessions = [bench.session(f"s{number}", steps(f"word{number}")) for number in range(3)]
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked == 4  # the phase, and the first two sessions

    with pytest.raises(Cancelled):
        bench.run(bench.spec(bench.noise("noise"), sessions), cancelled)
    assert [event["phase"] for event in bench.events] == ["preparing_data"]


def test_the_card_says_whether_it_helps(bench: Bench) -> None:
    sessions = [bench.session("s", steps("parser")), bench.session("t", steps("server"))]
    noise = bench.noise("noise")
    evaluation = bench.evaluation(bench.spec(noise, sessions, actions=2))
    card = (bench.folder / "out" / "README.md").read_text()
    assert card.index("## Proof") < card.index("## Does it help?") < card.index("## Provenance")
    assert evaluation["sentence"] in card
    assert f"{evaluation['rows'][1]['loss']:.4f}" in card
    (noise / "README.md").write_text(card)
    bench.run(bench.spec(noise, sessions[:1]))
    again = (bench.folder / "out" / "README.md").read_text()
    assert again.count("## Does it help?") == 1
    assert "on 1 session" in again
    assert evaluation["sentence"] not in again
    assert again.startswith("# noise\n\n## Proof\n\nIt learned.\n\n")
    assert again.endswith("## Provenance\n\nFrom here.\n")


def test_an_adapter_that_is_none_is_refused(bench: Bench) -> None:
    sessions = [bench.session("s", steps("parser"))]
    (bench.folder / "empty").mkdir()
    with pytest.raises(AdapterInvalid, match="adapter_config"):
        bench.run(bench.spec(bench.folder / "empty", sessions))
    payload = random_payload(bench.base.model)
    next(iter(payload.tensors.values())).fill_(float("nan"))
    with pytest.raises(AdapterNotFinite):
        bench.run(bench.spec(write_adapter(bench.folder / "nan", payload), sessions))


def test_a_session_with_a_system_text_and_no_calls_is_evaluated(bench: Bench) -> None:
    session = bench.session("s", [system("Be brief."), user("Hello?"), agent("Yes.")])
    evaluation = bench.evaluation(bench.spec(bench.noise("noise"), [session], actions=5))
    assert evaluation["actions"] is None
    assert rows_of(evaluation)["adapter"]["interval"] is None
