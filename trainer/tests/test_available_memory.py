from pathlib import Path

import psutil

from imprint_trainer.models.memory import available_bytes, available_mb


def container(folder: Path, *, limit: str, used: int, files: int) -> Path:
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon {used - files}\nfile {files}\ninactive_file {files}\nactive_file 0\n")
    return folder


def test_files_that_a_container_has_read_count_as_free(tmp_path: Path) -> None:
    assert available_bytes(container(tmp_path, limit="3000000", used=2_500_000, files=2_000_000)) == 2_500_000


def test_without_a_limit_the_machine_decides(tmp_path: Path) -> None:
    free = psutil.virtual_memory().available
    assert abs(available_bytes(container(tmp_path, limit="max", used=10, files=0)) - free) < 0.2 * free


def test_what_the_process_holds_already_is_available_to_it(tmp_path: Path) -> None:
    assert available_mb("cpu") * 1e6 > available_bytes()
