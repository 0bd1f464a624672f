"""What libraries are told, and what they may log, before any of them is imported."""

import logging
import os

from imprint_trainer.models.locate import downloads_allowed


def settle_environment() -> None:
    """No telemetry, and no hub unless downloads are allowed. Tokenizers take all cores: nothing here forks."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    # Long spinning takes cores from others; without any, waking for each product made imprints a sixth slower alone
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "300")
    # Windows differ in length: without segments that grow, a card's memory falls into pieces that none fits.
    if "PYTORCH_CUDA_ALLOC_CONF" not in os.environ:
        os.environ.setdefault("PYTORCH_ALLOC_CONF", "expandable_segments:True")
    if not downloads_allowed():
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["TRANSFORMERS_OFFLINE"] = "1"
    logging.getLogger("bitsandbytes.backends.cpu.ops").addFilter(is_news)


def is_news(record: logging.LogRecord) -> bool:
    """bitsandbytes offers a kernel of the hub on every CPU with avx512_bf16: code that is never fetched here."""
    return not str(record.msg).startswith("Failed to load CPU gemm_4bit_forward")
