import subprocess
import sys

from jobs.test_preview import ENVIRONMENT


def test_a_start_does_not_load_the_compiler_that_a_library_offers() -> None:
    script = (
        "import sys, torch; whole = torch.compile;"
        "from imprint_trainer.jobs.worker import import_libraries; import_libraries();"
        "import imprint_trainer.jobs.imprint, imprint_trainer.jobs.lora;"
        "print('torch._inductor.compile_fx' in sys.modules, torch.compile is whole)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True, env=ENVIRONMENT)
    assert ran.stdout == "False True\n"
