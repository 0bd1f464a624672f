import logging
import os

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


def test_a_card_s_memory_grows_in_segments_unless_somebody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
        monkeypatch.delenv(name, raising=False)
    settle_environment()
    assert os.environ["PYTORCH_ALLOC_CONF"] == "expandable_segments:True"
    monkeypatch.delenv("PYTORCH_ALLOC_CONF")
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:128")
    settle_environment()
    assert "PYTORCH_ALLOC_CONF" not in os.environ
