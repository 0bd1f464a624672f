"""An export, from its specification to files in another program's format."""

from pathlib import Path
from typing import Any

from imprint_trainer.files import list_files, write_text
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.models.locate import locate_base, model_config
from imprint_trainer.protocol import ExportSpec
from imprint_trainer.publish.card import merged_card
from imprint_trainer.publish.gguf import export_gguf
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
