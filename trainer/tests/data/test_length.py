import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.data.plan import length_limit, window_length
from imprint_trainer.data.prepare import Prepared, prepare_windows
from imprint_trainer.data.sessions import prepare_sessions
from imprint_trainer.protocol import PreviewSpec

from .families import tokenizer_of
from .sessions import agent, session_json, session_of, user

LONG = [step for n in range(40) for step in (agent(f"Step {n}: " + "word " * 40), user(f"And {n}?"))]


def prepared(folder: Path, steps: list[dict[str, object]], max_length: int | None, limit: int) -> Prepared:
    path = folder / "s1.json"
    path.write_text(json.dumps(session_json([user("Fix it"), *steps, agent("Done.")])))
    spec = PreviewSpec(
        session_paths=[str(path)],
        session_ids=["s1"],
        skip_invalid=False,
        unreadable=[],
        base_model="base",
        max_length=max_length,
        include_unsuccessful=False,
        train_on="all",
        reasoning=False,
        epochs=None,
        profile="remember",
        holdout="none",
        rank=16,
        target_modules=None,
        quantization="nf4",
    )
    return prepare_sessions(spec, tokenizer_of("chatml"), limit=limit)


def test_an_open_length_is_as_long_as_the_session_and_makes_one_window(tmp_path: Path) -> None:
    found = prepared(tmp_path, LONG, None, 131_072)
    assert len(found.windows) == 1
    assert found.max_length % 128 == 0
    assert found.max_length - 128 < found.whole <= found.max_length
    assert found.windows == prepared(tmp_path, LONG, found.max_length, 1024).windows


def test_an_open_length_ends_at_what_model_and_machine_allow(tmp_path: Path) -> None:
    found = prepared(tmp_path, LONG, None, 1024)
    assert found.max_length == 1024
    assert len(found.windows) > 1


def test_a_length_that_is_asked_for_is_taken(tmp_path: Path) -> None:
    assert prepared(tmp_path, LONG, 640, 4096).max_length == 640


def test_a_short_session_leaves_the_usual_length(tmp_path: Path) -> None:
    assert prepared(tmp_path, [], None, 8192).max_length == 1024
    assert prepared(tmp_path, [], None, 512).max_length == 512


@pytest.mark.parametrize(
    ("made_for", "fits", "on_cpu", "expected"),
    [(512, 8192, True, 512), (8192, 64, False, 1024), (8192, 4096, False, 4096), (8192, 8192, True, 2048)],
)
def test_the_limit(made_for: int, fits: int, on_cpu: bool, expected: int) -> None:
    assert length_limit(made_for=made_for, fits=fits, on_cpu=on_cpu) == expected


@given(st.integers(1, 200_000), st.integers(64, 200_000))
def test_an_open_length_holds_what_is_needed_or_is_the_limit(needed: int, limit: int) -> None:
    length = window_length(None, limit=limit, needed=needed)
    assert length <= limit
    assert length == limit or needed <= length < max(1025, needed + 128)


def test_the_whole_of_a_session_does_not_depend_on_its_windows() -> None:
    session = session_of(user("Fix it"), *LONG, agent("Done."))
    narrow, wide = (prepare_windows(session, tokenizer_of("chatml"), max_length=n) for n in (256, 65_536))
    assert wide.whole == narrow.whole
    assert wide.tokens <= narrow.whole <= 1.05 * wide.tokens
