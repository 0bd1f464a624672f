import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.families import tokenizer_of
from data.sessions import agent, session_json, session_of, user
from imprint_trainer.data.plan import Cost, Slice, length_limit, request_limit, slices, window_length
from imprint_trainer.data.prepare import Prepared, prepare_windows
from imprint_trainer.data.sessions import prepare_sessions
from imprint_trainer.protocol import PreviewSpec

MARK = 7


@st.composite
def costs_of(draw: st.DrawFn) -> list[Cost]:
    costs = []
    for index in range(draw(st.integers(0, 40))):
        own, after, supervised = draw(st.integers(1, 120)), draw(st.integers(0, 60)), draw(st.booleans())
        needs = draw(st.integers(-1, index - 1)) if index and draw(st.booleans()) else None
        excerpt = 0 if needs is None else draw(st.integers(0, 60))
        costs.append(Cost(own, after, supervised, not supervised and draw(st.booleans()), needs, excerpt))
    return costs


COSTS = costs_of()
BUDGETS = st.integers(80, 300)
BORDERS = st.sets(st.integers(0, 40))


def latest_request(costs: list[Cost], before: int) -> int | None:
    return next((index for index in range(before - 1, -1, -1) if costs[index].request), None)


def length(costs: list[Cost], piece: Slice, budget: int) -> int:
    """Of a window: of its turns, of a mark where turns are skipped, and of the request and excerpt brought along."""
    kept, first = costs[piece.start : piece.stop], costs[piece.new[0]]
    asked = latest_request(costs, piece.new[0])
    brought = min(costs[asked].own, request_limit(budget)) if asked is not None and asked < piece.start else 0
    lead = MARK + brought if piece.start else 0
    unseen = [index for index in piece.new if (needs := costs[index].needs) is not None and needs < piece.start]
    if unseen[:1] == [piece.new[0]] and first.excerpt <= budget // 2:
        lead += first.excerpt
    lead += sum(costs[index].excerpt for index in unseen if index != piece.new[0])
    cut = 0 if piece.output is None else kept[0].after - piece.output
    return lead + sum(cost.own + cost.after for cost in kept) - kept[-1].after - cut


@given(COSTS, BUDGETS, BORDERS)
def test_each_supervised_turn_is_new_in_exactly_one_window(costs: list[Cost], budget: int, borders: set[int]) -> None:
    new = [index for piece in slices(costs, budget=budget, mark=MARK, borders=borders) for index in piece.new]
    assert new == [index for index, cost in enumerate(costs) if cost.supervised]


@given(COSTS, BUDGETS, BORDERS)
def test_no_window_exceeds_its_budget_unless_one_turn_does(costs: list[Cost], budget: int, borders: set[int]) -> None:
    for piece in slices(costs, budget=budget, mark=MARK, borders=borders):
        alone = Slice(piece.new[0], piece.new[0] + 1, piece.new[:1])
        assert piece.over_long == (length(costs, alone, budget) > budget)
        assert piece.over_long or length(costs, piece, budget) <= budget


@given(COSTS, BUDGETS, BORDERS)
def test_a_window_ends_with_its_last_supervised_turn(costs: list[Cost], budget: int, borders: set[int]) -> None:
    for piece in slices(costs, budget=budget, mark=MARK, borders=borders):
        assert piece.stop == piece.new[-1] + 1
        assert 0 <= piece.start <= piece.new[0]
        assert not borders.intersection(piece.new[1:])
        assert len(piece.new) == 1 or not piece.over_long


def repeated(costs: list[Cost], start: int, read: int) -> int:
    """Tokens of the units from `start` on that a window before showed: of the last of them not what came back."""
    shown = costs[start:read]
    return sum(cost.own + cost.after for cost in shown) - (shown[-1].after if shown else 0)


@given(COSTS, BUDGETS, BORDERS)
def test_a_window_repeats_an_eighth_unless_its_first_answer_needs_more(
    costs: list[Cost], budget: int, borders: set[int]
) -> None:
    read = 0
    for piece in slices(costs, budget=budget, mark=MARK, borders=borders):
        first = costs[piece.new[0]]
        excerpted = 0 < first.excerpt <= budget // 2
        needs = read if first.needs is None or excerpted else first.needs
        most = min(piece.new[0] - 1, read, needs)
        assert piece.start >= most or repeated(costs, piece.start, read) <= budget // 8
        read = piece.stop


@given(COSTS, BUDGETS, BORDERS)
def test_a_window_could_hold_no_further_context(costs: list[Cost], budget: int, borders: set[int]) -> None:
    read = 0
    for piece in slices(costs, budget=budget, mark=MARK, borders=borders):
        if piece.start and not piece.over_long:
            wider = Slice(piece.start - 1, piece.stop, piece.new)
            assert length(costs, wider, budget) > budget or repeated(costs, piece.start - 1, read) > budget // 8
        read = piece.stop


@given(COSTS, BUDGETS)
def test_what_later_answers_replace_stands_in_their_window_or_is_brought_along(costs: list[Cost], budget: int) -> None:
    for piece in slices(costs, budget=budget, mark=MARK):
        later = [index for index in piece.new[1:] if (needs := costs[index].needs) is not None and needs < piece.start]
        assert set(later) <= set(piece.excerpts)
        assert sum(costs[index].excerpt for index in later) <= budget // 4


@given(COSTS, BUDGETS)
def test_what_came_back_from_the_first_turn_is_cut_where_it_alone_does_not_fit(costs: list[Cost], budget: int) -> None:
    for piece in slices(costs, budget=budget, mark=MARK):
        if piece.output is not None:
            assert 24 <= piece.output < costs[piece.start].after
            assert piece.start < piece.new[0]
            assert costs[piece.new[0]].needs != piece.start
            assert length(costs, piece, budget) == budget


@given(COSTS, BUDGETS, BORDERS)
def test_a_window_has_the_latest_request_before_its_first_answer(
    costs: list[Cost], budget: int, borders: set[int]
) -> None:
    for piece in slices(costs, budget=budget, mark=MARK, borders=borders):
        asked = latest_request(costs, piece.new[0])
        assert piece.request == (asked if asked is not None and asked < piece.start else None)


@given(COSTS, BUDGETS)
def test_a_window_shows_what_its_first_answer_needs_where_that_fits(costs: list[Cost], budget: int) -> None:
    for piece in slices(costs, budget=budget, mark=MARK):
        needs = costs[piece.new[0]].needs
        excerpted = piece.new[0] in piece.excerpts
        if needs is not None and 0 <= needs < piece.start and not (piece.over_long or excerpted):
            assert length(costs, Slice(needs, piece.new[0] + 1, piece.new[:1]), budget) > budget


def test_what_fits_is_one_window() -> None:
    costs = [Cost(10, 10, True), Cost(5, 0, False), Cost(10, 10, True)]
    assert slices(costs, budget=35) == [Slice(0, 3, (0, 2))]


def test_most_of_a_window_is_new_when_turns_are_small() -> None:
    costs = [Cost(5, 5, True)] * 100
    for piece in slices(costs, budget=100)[1:-1]:
        assert len(piece.new) == 9
        assert piece.stop - piece.start == 10


def test_the_turn_before_the_answer_is_kept_even_beyond_half() -> None:
    costs = [Cost(10, 60, True), Cost(20, 0, True)]
    assert slices(costs, budget=90) == [Slice(0, 2, (0, 1))]
    assert slices([Cost(80, 0, True), *costs], budget=90)[1] == Slice(1, 3, (2,))


def test_nothing_supervised_is_no_window() -> None:
    assert slices([Cost(10, 10, False)], budget=100) == []


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
        within=None,
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
