import json
from pathlib import Path

import pytest
import torch

from imprint_bench import roofline
from imprint_trainer.models.load import load_base


def test_what_is_counted_is_what_the_weights_and_the_attention_ask_for(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    length = 48
    for name, value in {"LENGTH": length, "SIDE": 64, "NUMBERS": 1000, "RUNS": 2}.items():
        monkeypatch.setattr(roofline, name, value)
    roofline.main(str(tiny_folder))
    told = json.loads(capsys.readouterr().out)
    model = load_base(str(tiny_folder), device="cpu", dequantised=True).model
    linears = {name: one.weight.numel() for name, one in model.named_modules() if isinstance(one, torch.nn.Linear)}
    head = linears.pop("lm_head")
    config = model.config.get_text_config()
    read = length - 1  # the last token is only predicted
    attention = 4 * read**2 * config.hidden_size * config.num_hidden_layers
    expected = 2 * read * sum(linears.values()) + 2 * (length // 2) * head + attention
    assert told["reading"]["gflop"] * length * 1e9 == pytest.approx(expected)
    # Back through the same weights, the attention and the head, and through the adapter
    assert 2 * expected < told["training"]["gflop"] * length * 1e9 < 3.5 * expected
    assert told["training"]["weights_mb"] == 2 * told["reading"]["weights_mb"]
    assert told["reading"]["share"] == pytest.approx(told["reading"]["gflops"] / told["gflops"])
    assert told["gb_s"] > 0
