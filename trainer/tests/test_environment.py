import logging

import pytest

from imprint_trainer.environment import settle_environment

LOGGER = "bitsandbytes.backends.cpu.ops"


def test_only_the_offer_to_fetch_a_kernel_is_kept_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    settle_environment()
    logger = logging.getLogger(LOGGER)
    logger.warning("Failed to load CPU gemm_4bit_forward from kernels-community: %s.", "No module named 'kernels'")
    logger.warning("Failed to load CPU quantize_4bit: %s", "no such symbol")
    logging.getLogger("bitsandbytes").warning("Failed to load CPU gemm_4bit_forward: %s", "another logger's words")
    assert [record.getMessage() for record in caplog.records] == [
        "Failed to load CPU quantize_4bit: no such symbol",
        "Failed to load CPU gemm_4bit_forward: another logger's words",
    ]
