import subprocess
import sys

import pytest

from jobs.test_preview import ENVIRONMENT


@pytest.mark.parametrize(
    "first",
    [
        "from imprint_trainer.jobs.worker import import_libraries; import_libraries()",
        "import imprint_trainer.models.load",  # as the commands do
    ],
)
def test_no_process_loads_the_compiler_that_a_library_offers(first: str) -> None:
    script = (
        f"import sys, torch; whole = torch.compile; {first};"
        "import peft, imprint_trainer.jobs.imprint, imprint_trainer.jobs.lora;"
        "print('torch._inductor.compile_fx' in sys.modules, torch.compile is whole)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True, env=ENVIRONMENT)
    assert ran.stdout == "False True\n"
