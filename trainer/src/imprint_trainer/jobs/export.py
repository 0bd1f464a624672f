"""An export, from its specification to files in another program's format; and `python -m imprint_trainer gguf`: a base
model, or an adapter, as the file that llama.cpp serves."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any, get_args

from imprint_trainer.errors import ExportUnsupported, TrainerError, machine_failures
from imprint_trainer.files import list_files, write_text
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.models.causal_lm import Quantization
from imprint_trainer.models.load import load_base
from imprint_trainer.models.locate import locate_base, model_config
from imprint_trainer.protocol import ExportSpec
from imprint_trainer.publish.card import merged_card
from imprint_trainer.publish.gguf import export_base_gguf, export_gguf, supported
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
            model_config(folder),
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
    draft = arguments.out.with_name(f".{arguments.out.name}.{os.getpid()}")
    try:
        with machine_failures():
            draft.parent.mkdir(parents=True, exist_ok=True)
            try:
                write(arguments, draft)
                draft.replace(arguments.out)
            finally:
                draft.unlink(missing_ok=True)
    except TrainerError as error:
        print(f"{error.message.rstrip('.')}. {error.hint}", file=sys.stderr)
        return 3 if isinstance(error, ExportUnsupported) else 1
    return 0


def write(arguments: argparse.Namespace, draft: Path) -> None:
    folder = locate_base(arguments.base).folder
    config = model_config(folder)
    if arguments.adapter is not None:
        source = read_source(arguments.adapter)
        name = arguments.adapter.name
        export_gguf(source, config, draft, adapter_id=name, base_model_name=folder.name)
        return
    supported(config)
    print(f"Reading the weights of {folder.name} ...", file=sys.stderr, flush=True)
    base = load_base(arguments.base, quantization=arguments.quantization, device="cpu", dequantised=True)
    print(f"Writing {arguments.out.name} ...", file=sys.stderr, flush=True)
    export_base_gguf(base, draft, name=folder.name)
