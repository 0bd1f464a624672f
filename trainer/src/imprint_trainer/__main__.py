"""`python -m imprint_trainer serve | prepare-default-model | hypernetworks | lessons | windows | privacy | efficacy`."""

import os
import sys

from imprint_trainer.config import PrepareConfig, parse_arguments
from imprint_trainer.environment import settle_environment
from imprint_trainer.errors import TrainerError


def main() -> int:
    if sys.argv[1:2] == ["gpu-check"]:
        settle_environment()
        from imprint_trainer.measure.gpu import main as gpu_check

        return gpu_check(sys.argv[2:])
    if sys.argv[1:2] == ["measure-length"]:
        settle_environment()
        from imprint_trainer.measure.length import main as measure_length

        return measure_length(sys.argv[2:])
    if sys.argv[1:2] == ["measure-training"]:
        settle_environment()
        from imprint_trainer.measure.training import main as measure_training

        return measure_training(sys.argv[2:])
    if sys.argv[1:2] == ["hypernetworks"]:
        settle_environment()
        from imprint_trainer.doc_to_lora.cli import main as hypernetworks

        return hypernetworks(sys.argv[2:])
    if sys.argv[1:2] == ["lessons"]:
        settle_environment()
        from imprint_trainer.data.lessons import main as lessons

        return lessons(sys.argv[2:])
    if sys.argv[1:2] == ["windows"]:
        settle_environment()
        from imprint_trainer.data.report import main as windows

        return windows(sys.argv[2:])
    if sys.argv[1:2] == ["privacy"]:
        settle_environment()
        from imprint_trainer.privacy.cli import main as privacy

        return privacy(sys.argv[2:])
    if sys.argv[1:2] == ["efficacy"]:
        settle_environment()
        from imprint_trainer.efficacy.cli import main as efficacy

        return efficacy(sys.argv[2:])
    config = parse_arguments(sys.argv[1:])
    settle_environment()
    if isinstance(config, PrepareConfig):
        from imprint_trainer.lora.failures import machine_failures
        from imprint_trainer.models.gguf_default import prepare_default_model

        try:
            with machine_failures():
                prepare_default_model(config.gguf, config.out, lambda line: print(line, flush=True))
        except TrainerError as error:
            print(f"{error.message}. {error.hint}", file=sys.stderr)
            return 1
        return 0
    from imprint_trainer.serve import serve

    code = serve(config)
    sys.stderr.flush()
    os._exit(code)  # daemon threads and C libraries have nothing left to tidy up


if __name__ == "__main__":
    sys.exit(main())
