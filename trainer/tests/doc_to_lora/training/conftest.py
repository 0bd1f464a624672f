from pathlib import Path

import pytest

from imprint_trainer.doc_to_lora.training.base import Base

from .small import small_base


@pytest.fixture(scope="session")
def tiny_base(tiny_folder: Path) -> Base:
    return small_base(tiny_folder)
