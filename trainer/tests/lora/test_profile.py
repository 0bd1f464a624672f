import pytest

from imprint_trainer.lora.profile import default_rate


def test_wider_bases_are_trained_at_a_lower_rate() -> None:
    assert default_rate(64) == default_rate(576) == 1e-3
    assert default_rate(4 * 576) == pytest.approx(5e-4)
    assert 3e-4 < default_rate(5120) < default_rate(4096) < 4e-4
