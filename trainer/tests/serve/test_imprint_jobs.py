import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from d2l.tiny import random_tensors, tiny_config
from imprint_trainer.imprint.calibrate import SCALES
from imprint_trainer.imprint.cli import config_for
from imprint_trainer.imprint.folder import WEIGHTS_FILE, save
from imprint_trainer.imprint.statistics import measure
from imprint_trainer.models.causal_lm import LoadedBase
from serve.conftest import Spec
from serve.running import RunningWorker

Job = Callable[..., dict[str, Any]]


@pytest.fixture
def installed(base: LoadedBase, tmp_path: Path) -> Path:
    config = tiny_config(base.model, base_model_name_or_path="tiny")
    save(config, random_tensors(config), tmp_path / "hypernetworks" / "mine")
    return tmp_path / "hypernetworks" / "mine"


@pytest.fixture
def imprint(worker: RunningWorker, lora_spec: Spec, new_job_id: Callable[[], str], tmp_path: Path) -> Job:
    """Runs one job; its last event."""
    shared = ("include_unsuccessful", "adapter_id", "output_dir", "base_model", "base_model_name", "task_type", "seed")

    def run(out: str = "out", **changes: Any) -> dict[str, Any]:
        lora = lora_spec(out)
        spec = {key: lora[key] for key in shared} | {
            "session_path": lora["session_paths"][0],
            "session_id": "s1",
            "hypernetworks_dirs": [str(tmp_path / "own"), str(tmp_path / "hypernetworks")],
            "max_chunk_length": None,
            "scaling": 1,
            "max_chunks": 16,
            "compress_rank": None,
        }
        return worker.job(new_job_id(), spec | changes, "train_hypernetwork")[-1]

    return run


def test_one_pass_leaves_a_proved_adapter_that_stock_peft_loads(
    imprint: Job, installed: Path, tiny_folder: Path, tmp_path: Path
) -> None:
    proof = imprint()["result"]["proof"]
    assert proof["keys_matched"] == proof["keys_expected"] > 0
    assert proof["accepted_by"]["peft"]
    assert proof["loss_before"] != proof["loss_after"]
    model = AutoModelForCausalLM.from_pretrained(tiny_folder)
    ids = torch.tensor([[5, 6, 7]])
    bare = model(ids).logits
    assert not torch.allclose(PeftModel.from_pretrained(model, tmp_path / "out")(ids).logits, bare)
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert (record["method"], record["hypernetwork"]["name"]) == ("hypernetwork", "mine")


@pytest.mark.parametrize("scaling", [None, 0.5])
def test_the_proof_says_at_which_scale_the_update_stands_and_what_was_read(
    imprint: Job, installed: Path, tmp_path: Path, scaling: float | None
) -> None:
    proof = imprint(scaling=scaling)["result"]["proof"]
    found = proof["imprint"]
    record, card = (tmp_path / "out" / name for name in ("training.json", "README.md"))
    assert (
        json.loads(record.read_text()).items()
        >= {key: found[key] for key in ("scale", "calibration", "coverage")}.items()
    )
    assert f"Scale of the generated update: {found['scale']:g}, " in card.read_text()
    assert [one["name"] for one in found["neutral"]] == ["mixed", "letter", "python"]
    assert proof["neutral_loss_after"] == pytest.approx(sum(one["loss_after"] for one in found["neutral"]) / 3)
    coverage = found["coverage"]
    assert 0 < coverage["characters_read"] <= coverage["characters"]
    assert sum(kind["characters"] for kind in coverage["kinds"]) == coverage["characters"]
    if scaling is not None:
        assert (found["scale"], found["calibration"]) == (scaling, None)
        return
    losses = {one["scale"]: one["loss"] for one in found["calibration"]["tried"]}
    if found["calibration"]["helps"]:
        assert losses[found["scale"]] is not None
    else:
        assert found["scale"] == min(SCALES)


def test_no_more_chunks_are_read_than_asked_for(imprint: Job, installed: Path) -> None:
    whole, part = (
        imprint(str(most), max_chunks=most, max_chunk_length=80)["result"]["proof"]["imprint"]["coverage"]
        for most in (16, 2)
    )
    assert whole["chunks"] > part["chunks"] == 2
    assert part["tokens"] <= 160
    assert whole["characters"] == whole["characters_read"] > part["characters_read"]
    assert whole["characters"] == part["characters"]


def test_the_same_session_gives_the_same_bytes_and_new_weights_others(
    imprint: Job, installed: Path, base: LoadedBase, tmp_path: Path
) -> None:
    def weights(out: str) -> bytes:
        imprint(out)
        return (tmp_path / out / "adapter_model.safetensors").read_bytes()

    first = weights("first")
    assert weights("second") == first
    config = tiny_config(base.model, base_model_name_or_path="tiny")
    save(config, random_tensors(config, seed=9), installed)
    assert weights("third") != first


def test_a_fixed_rank_reports_its_error(imprint: Job, installed: Path, tmp_path: Path) -> None:
    assert imprint(compress_rank=1)["result"]["rank"] == 1
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert record["uncompressed_rank"] > 1
    assert 0 < record["compression_error"] < 1


def test_without_a_hypernetwork_the_job_names_base_and_folders(imprint: Job) -> None:
    error = imprint()["error"]
    assert error["code"] == "HYPERNETWORK_NOT_INSTALLED"
    assert error["message"] == (
        "No hypernetwork for tiny is installed in own or hypernetworks: "
        "imprint hypernetworks measure --base tiny --name tiny --texts FOLDER makes one, in minutes."
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_bytes(file.read_bytes()[:-100]),
        lambda file: file.write_bytes(b"\x80\x04c__builtin__\neval\n."),
        lambda file: spoil_with_nan(file),
    ],
    ids=["truncated", "a pickle", "not a number"],
)
def test_a_damaged_hypernetwork_fails_the_job_and_leaves_nothing(
    imprint: Job, installed: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(installed / WEIGHTS_FILE)
    error = imprint()["error"]
    assert error["code"] == "HYPERNETWORK_INVALID"
    assert error["message"]
    assert list((tmp_path / "out").iterdir()) == []


def spoil_with_nan(file: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(file)
    tensors["head.weight"][:] = torch.nan
    save_file(tensors, file)


@pytest.fixture
def closed_form(base: LoadedBase, tmp_path: Path) -> Path:
    config = config_for(base.model, "tiny").model_copy(update={"rank": 4})
    pieces = [[(7 * row + column) % 250 + 10 for column in range(60)] for row in range(20)]
    save(config, measure(base.model, config, pieces)[0].tensors(), tmp_path / "hypernetworks" / "solved")
    return tmp_path / "hypernetworks" / "solved"


def test_the_closed_form_makes_sessions_likelier_and_says_what_it_read(
    imprint: Job, closed_form: Path, tmp_path: Path
) -> None:
    proof = imprint(scaling=1)["result"]["proof"]
    assert proof["loss_after"] < proof["loss_before"]
    assert proof["keys_matched"] == proof["keys_expected"] > 0
    coverage = proof["imprint"]["coverage"]
    assert {one["kind"] for one in coverage["kinds"]} == {"lessons", "context"}
    assert coverage["characters_read"] == coverage["characters"] > 0
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert record["hypernetwork"]["name"] == "solved"
    assert "Ridge, one forward pass of solved" in (tmp_path / "out" / "README.md").read_text()


def test_chunks_are_windows_to_the_closed_form(imprint: Job, closed_form: Path) -> None:
    whole, short, part = (
        imprint(out, **limits)["result"]["proof"]["imprint"]["coverage"]
        for out, limits in (
            ("whole", {}),
            ("short", {"max_chunk_length": 150}),
            ("part", {"max_chunk_length": 150, "max_chunks": 1}),
        )
    )
    assert (whole["chunks"], part["chunks"]) == (1, 1)
    assert short["chunks"] > 1
    assert part["tokens"] <= 150
    assert part["characters_read"] < short["characters_read"] == short["characters"]


def test_the_same_session_is_solved_to_the_same_bytes(imprint: Job, closed_form: Path, tmp_path: Path) -> None:
    found = []
    for out in ("first", "second"):
        imprint(out)
        found.append((tmp_path / out / "adapter_model.safetensors").read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize(("renamed", "name"), [("solved", "mine"), ("a-solved", "a-solved")])
def test_of_two_for_a_base_the_first_one_is_used_whatever_their_formats(
    imprint: Job, installed: Path, closed_form: Path, tmp_path: Path, renamed: str, name: str
) -> None:
    closed_form.rename(closed_form.with_name(renamed))
    imprint()
    assert json.loads((tmp_path / "out" / "training.json").read_text())["hypernetwork"]["name"] == name
