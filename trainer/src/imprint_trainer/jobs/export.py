"""An export, from its specification to files in another program's format; and `python -m imprint_trainer gguf`: a base
model, or an adapter, as the file that llama.cpp serves."""

import argparse
import sys
from pathlib import Path
from typing import Any, get_args

from imprint_trainer.errors import ExportUnsupported, TrainerError, machine_failures
from imprint_trainer.files import list_files, write_text
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.models.causal_lm import Quantization
from imprint_trainer.models.locate import locate_base
from imprint_trainer.protocol import ExportSpec
from imprint_trainer.publish.card import merged_card
from imprint_trainer.publish.gguf import export_gguf, shape_for_gguf, whole_file, write_base
from imprint_trainer.publish.merged import export_merged
from imprint_trainer.publish.peft_format import read_source


def export_adapter(spec: ExportSpec, context: JobContext) -> dict[str, Any]:
    """The contracts' `ExportResult`; the files are in `spec.output_dir`. The resident base model stays as it is."""
    context.phase("exporting")
    folder, out = locate_base(spec.base_model).folder, Path(spec.output_dir)
    source = read_source(Path(spec.adapter_path))
    if spec.format == "gguf":
        export_gguf(
            source,
            shape_for_gguf(folder),
            out / f"{spec.adapter_id}.gguf",
            adapter_id=spec.adapter_id,
            base_model_name=spec.base_model_name,
            stop_if_cancelled=context.stop_if_cancelled,
        )
    else:
        export_merged(source, folder, out, stop_if_cancelled=context.stop_if_cancelled)
        card = merged_card(Path(spec.adapter_path), adapter_id=spec.adapter_id, base_model_name=spec.base_model_name)
        write_text(out / "README.md", card)
    context.stop_if_cancelled()
    return {"files": list_files(out), "warnings": []}


def main(argv: list[str]) -> int:
    """The exit code, with a sentence on stderr: 3 where llama.cpp cannot take the model, 1 for any other failure.
    `--out` is there whole or not."""
    parser = argparse.ArgumentParser(prog="imprint_trainer gguf", allow_abbrev=False)
    parser.add_argument("--base", required=True, help="folder of the base model")
    parser.add_argument("--out", required=True, type=Path, help="file to write")
    parser.add_argument("--adapter", type=Path, help="write this adapter of the base instead")
    parser.add_argument("--quantization", choices=get_args(Quantization), default="nf4", help="weights of the base")
    arguments = parser.parse_args(argv)
    adapter: Path | None = arguments.adapter
    try:
        with machine_failures():
            folder = locate_base(arguments.base).folder
            if adapter is None:
                write_base(folder, arguments.out, arguments.quantization, say)
            else:
                with whole_file(arguments.out) as draft:
                    source, shape = read_source(adapter), shape_for_gguf(folder)
                    export_gguf(source, shape, draft, adapter_id=adapter.name, base_model_name=folder.name)
    except TrainerError as error:
        say(error.told)
        return 3 if isinstance(error, ExportUnsupported) else 1
    return 0


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
