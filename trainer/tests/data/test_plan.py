from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.data.plan import Cost, Slice, slices

COSTS = st.lists(
    st.builds(Cost, own=st.integers(1, 120), after=st.integers(0, 60), supervised=st.booleans()), max_size=40
)


def length(costs: list[Cost], piece: Slice) -> int:
    kept = costs[piece.start : piece.stop]
    return sum(cost.own + cost.after for cost in kept) - kept[-1].after


@given(COSTS, st.integers(20, 200), st.booleans())
def test_each_supervised_turn_is_new_in_exactly_one_window(costs: list[Cost], budget: int, one_each: bool) -> None:
    new = [index for piece in slices(costs, budget=budget, one_each=one_each) for index in piece.new]
    assert new == [index for index, cost in enumerate(costs) if cost.supervised]


@given(COSTS, st.integers(20, 200), st.booleans())
def test_no_window_exceeds_its_budget_unless_one_turn_does(costs: list[Cost], budget: int, one_each: bool) -> None:
    for piece in slices(costs, budget=budget, one_each=one_each):
        assert piece.over_long == (costs[piece.new[0]].own > budget)
        assert piece.over_long or length(costs, piece) <= budget


@given(COSTS, st.integers(20, 200), st.booleans())
def test_a_window_ends_with_its_last_supervised_turn(costs: list[Cost], budget: int, one_each: bool) -> None:
    for piece in slices(costs, budget=budget, one_each=one_each):
        assert piece.stop == piece.new[-1] + 1
        assert 0 <= piece.start <= piece.new[0]
        assert len(piece.new) == 1 or not (one_each or piece.over_long)


@given(COSTS, st.integers(20, 200))
def test_a_window_could_hold_no_further_context(costs: list[Cost], budget: int) -> None:
    for piece in slices(costs, budget=budget):
        if piece.start and not piece.over_long:
            wider = Slice(piece.start - 1, piece.stop, piece.new)
            assert length(costs, wider) > budget


def test_what_fits_is_one_window() -> None:
    costs = [Cost(10, 10, True), Cost(5, 0, False), Cost(10, 10, True)]
    assert slices(costs, budget=35) == [Slice(0, 3, (0, 2))]


def test_half_of_a_window_is_new_when_turns_are_small() -> None:
    costs = [Cost(5, 5, True)] * 100
    for piece in slices(costs, budget=100)[1:-1]:
        assert 5 <= len(piece.new) <= 6
        assert piece.stop - piece.start == 10


def test_the_turn_before_the_answer_is_kept_even_beyond_half() -> None:
    costs = [Cost(10, 60, True), Cost(20, 0, True)]
    assert slices(costs, budget=90) == [Slice(0, 2, (0, 1))]
    assert slices([Cost(80, 0, True), *costs], budget=90)[1] == Slice(1, 3, (2,))


def test_nothing_supervised_is_no_window() -> None:
    assert slices([Cost(10, 10, False)], budget=100) == []
