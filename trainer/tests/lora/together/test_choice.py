from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.lora.together.choice import ROUNDS, Choice, passes_of


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def rounds(choice: Choice, clock: Clock, *, alone: float, together: float, count: int, tokens: int = 128) -> list[bool]:
    ways = []
    for _ in range(count):
        way = choice.together(4, tokens)
        with choice.measured(4, tokens, together=way):
            clock.now += tokens * (together if way else alone)
        ways.append(way)
    return ways


def test_both_ways_are_measured_in_turn_and_the_faster_one_stays() -> None:
    for alone, together in ((0.02, 0.01), (0.01, 0.02)):
        clock = Clock()
        ways = rounds(Choice(clock), clock, alone=alone, together=together, count=2 * ROUNDS + 4)
        assert ways[: 2 * ROUNDS] == [True, False] * ROUNDS
        assert ways[2 * ROUNDS :] == [together < alone] * 4


def test_each_length_is_measured_for_itself() -> None:
    clock = Clock()
    choice = Choice(clock)
    assert rounds(choice, clock, alone=0.02, together=0.01, count=7, tokens=128)[-1]
    assert not rounds(choice, clock, alone=0.01, together=0.02, count=7, tokens=1024)[-1]
    assert rounds(choice, clock, alone=0.02, together=0.01, count=1, tokens=120)[-1]


@given(st.lists(st.integers(1, 400), max_size=30), st.integers(1, 300))
def test_passes_hold_every_window_once_in_order_and_no_more_than_the_limit(lengths: list[int], limit: int) -> None:
    parts = list(enumerate(lengths))
    passes = passes_of(parts, lambda part: part[1], limit)
    assert [part for one in passes for part in one] == parts
    assert all(len(one) == 1 or sum(length for _, length in one) <= limit for one in passes)
