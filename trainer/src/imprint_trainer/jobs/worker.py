"""The resident side of the worker: one base model at a time, kept while the requests are for it."""

import contextlib
import gc
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imprint_trainer.errors import AdapterInvalid
from imprint_trainer.protocol import ChatSpec, Evaluate, Export, Job, PreviewSpec, TrainLora, TrainSweep

if TYPE_CHECKING:
    from imprint_trainer.generation.prompt import BareBase
    from imprint_trainer.models.causal_lm import LoadedBase, Quantization

_importing = threading.Lock()  # the libraries' lazy imports break when two threads begin them at once


def import_libraries() -> None:
    with _importing:
        gc.disable()  # it finds nothing in what is imported, and takes a tenth of a start
        import imprint_trainer.models.linear  # noqa: F401, I001  before others import the library below it
        import peft  # noqa: F401
        from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: F401
        from transformers.utils.logging import disable_progress_bar

        gc.freeze()
        gc.enable()
        disable_progress_bar()  # stderr is the job's log
        warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")


class Worker:
    """Jobs and chats come from the main thread only, previews and prompts from any."""

    def __init__(
        self, *, device: str, threads: int | None, digests: Path | None = None, tracker: str | None = None
    ) -> None:
        self._device = device
        self._threads = threads
        self._digests = digests
        self._tracker = tracker
        self._resident: tuple[tuple[str, Quantization], LoadedBase] | None = None
        self._ready = False
        self._tokenizers: dict[str, Any] = {}
        self._bare: dict[str, BareBase] = {}
        self._previewing = threading.Lock()

    def warm(self, base_model: str | None) -> None:
        """Imports everything and loads what the first job will probably ask for."""
        self._settle()
        if base_model is not None:
            from imprint_trainer.publish.losses import IMPRINT_TEXTS, neutral_loss_of_base
            from imprint_trainer.publish.provenance import base_sha256

            fetch(base_model)
            base = self.base(base_model, "nf4")
            for name in IMPRINT_TEXTS:
                neutral_loss_of_base(base, name)
            base_sha256(base)

    def base(
        self, path_or_hub_id: str, quantization: "Quantization", *, dequantised: bool | None = None
    ) -> "LoadedBase":
        from imprint_trainer.models.load import load_base

        key = (path_or_hub_id, quantization)
        if self._resident is not None and self._resident[0] == key:
            resident = self._resident[1]
            if dequantised is None or resident.dequantised == dequantised:
                return resident
        self._resident = None  # let the old one go before the new one comes
        loaded = load_base(
            path_or_hub_id,
            quantization=quantization,
            device=self._device,
            dequantised=dequantised,
            digests=self._digests,
        )
        self._resident = (key, loaded)
        return loaded

    def tokenizer(self, path_or_hub_id: str) -> Any:
        """The tokenizer of a base model, without its weights where it is not resident."""
        from imprint_trainer.models.locate import tokenizer_of

        if self._resident is not None and self._resident[0][0] == path_or_hub_id:
            return self._resident[1].tokenizer
        return tokenizer_of(path_or_hub_id)

    def run(self, job: Job, *, emit: Callable[[dict[str, Any]], None], cancelled: Callable[[], bool]) -> dict[str, Any]:
        """The contracts' `TaskResult`. Raises Cancelled and TrainerError; a failure leaves none."""
        self._settle()
        from imprint_trainer.errors import machine_failures
        from imprint_trainer.jobs.context import JobContext
        from imprint_trainer.jobs.evaluate import evaluate_adapter
        from imprint_trainer.jobs.export import export_adapter
        from imprint_trainer.jobs.imprint import imprint
        from imprint_trainer.jobs.lora import train_lora
        from imprint_trainer.jobs.sweep import train_sweep
        from imprint_trainer.jobs.tracking import tracked
        from imprint_trainer.models.device import device_kind, pick_device
        from imprint_trainer.models.memory import PeakMemory

        memory = PeakMemory(pick_device(self._device))
        context = JobContext(emit, cancelled, self.base, self.tokenizer, memory, device_kind(self._device))
        with machine_failures(), staging(Path(job.spec.output_dir)):
            fetch(job.spec.base_model)
            if isinstance(job, TrainLora):
                with tracked(self._tracker, job.spec, emit) as (heard, ended):
                    result = train_lora(job.spec, replace(context, emit=heard))
                    ended(result)
                return result
            if isinstance(job, TrainSweep):
                return train_sweep(job.spec, context)
            if isinstance(job, Export):
                return export_adapter(job.spec, context)
            if isinstance(job, Evaluate):
                return evaluate_adapter(job.spec, context)
            return imprint(job.spec, context)

    def chat(
        self,
        spec: ChatSpec,
        *,
        cancelled: Callable[[], bool],
        on_prompt: Callable[[dict[str, Any]], None],
        on_text: Callable[[str], None],
    ) -> dict[str, Any]:
        """The contracts' `ChatResult`. Raises Cancelled and TrainerError."""
        self._settle()
        from imprint_trainer.generation.generate import chat
        from imprint_trainer.generation.prompt import quantization_for

        if spec.adapter_path is not None and not Path(spec.adapter_path).is_dir():
            raise AdapterInvalid("the adapter's folder is not there")
        fetch(spec.base_model)
        base = self.base(spec.base_model, quantization_for(spec.adapter_path))
        return chat(spec, base, cancelled=cancelled, on_prompt=on_prompt, on_text=on_text)

    def preview(self, spec: PreviewSpec, *, window: int | None, tokens_per_second: float | None) -> dict[str, Any]:
        """Holds its own tokenizers: one that trains must not be used from two threads. Imports nothing that only a
        model needs: a worker that was just started answers in half the time."""
        with self._previewing:
            with _importing:
                from imprint_trainer.jobs.preview import preview_sessions
                from imprint_trainer.models.device import device_kind
                from imprint_trainer.models.locate import tokenizer_of

                if spec.base_model not in self._tokenizers:
                    fetch(spec.base_model)
                    self._tokenizers[spec.base_model] = tokenizer_of(spec.base_model)
                device = device_kind(self._device)
            tokenizer = self._tokenizers[spec.base_model]
            return preview_sessions(spec, tokenizer, device=device, window=window, tokens_per_second=tokens_per_second)

    def render(self, spec: ChatSpec) -> dict[str, Any]:
        """The contracts' `RenderedPrompt`, beside whatever else runs, with a tokenizer of its own."""
        with self._previewing:
            with _importing:
                from imprint_trainer.generation.prompt import bare_base, render

                if spec.base_model not in self._bare:
                    fetch(spec.base_model)
                    self._bare[spec.base_model] = bare_base(spec.base_model)
            return render(spec, self._bare[spec.base_model])

    def _settle(self) -> None:
        if not self._ready:
            import_libraries()
            from imprint_trainer.models.device import fix_numerics, pick_device

            fix_numerics(pick_device(self._device), self._threads)
            self._ready = True


def fetch(base_model: str) -> None:
    """Pulls a model of the hub that is not here, where downloads are allowed. Raises what `pull_hub` raises."""
    from imprint_trainer.models.locate import downloads_allowed, is_hub_id, kept_of_hub

    if downloads_allowed() and is_hub_id(base_model) and kept_of_hub(base_model) is None:
        from imprint_trainer.bases.cli import say
        from imprint_trainer.bases.hub import pull_hub

        pull_hub(base_model, say)


@contextlib.contextmanager
def staging(folder: Path) -> Iterator[None]:
    """An empty folder of this job's own, empty again if the job fails. Raises OutputNotEmptyError."""
    from imprint_trainer.publish.peft_format import claim_folder, empty_folder

    claim_folder(folder)
    try:
        yield
    except BaseException:
        empty_folder(folder)
        raise
