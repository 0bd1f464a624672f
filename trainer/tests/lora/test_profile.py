import pytest

from imprint_trainer.lora.schedule import LEARN, default_rate


@pytest.mark.parametrize(
    ("tokens", "steps", "passes"),
    [
        (900, 1, 4),
        (3_000, 3, 3),
        (4_000, 4, 2),
        (150_000, 150, 2),
        (150_001, 150, 1),
        (200_000, 2, 1),
        (18_000_000, 2250, 1),
    ],
)
def test_few_windows_are_read_until_there_are_enough_steps_and_much_text_once(
    tokens: int, steps: int, passes: int
) -> None:
    assert LEARN.passes(tokens, steps) == passes


def test_wider_bases_are_trained_at_a_lower_rate() -> None:
    assert default_rate(64) == default_rate(576) == 1e-3
    assert default_rate(4 * 576) == pytest.approx(5e-4)
    assert 3e-4 < default_rate(5120) < default_rate(4096) < 4e-4
