"""Which base trains on which machine, by the memory model: the table of docs/training.md."""

from dataclasses import replace
from pathlib import Path

from imprint_trainer.models.device import Device
from imprint_trainer.models.memory_model import ROOM, Setting, Shape, dequantised_fits, predict

PAGE = Path(__file__).parents[3] / "docs" / "training.md"
LENGTHS = (1024, 4096, 8192)
SYSTEM_MB = 2000  # that everything else on a computer takes
MACHINES: list[tuple[Device, int]] = [
    *(("cuda", gigabytes) for gigabytes in (8, 12, 16, 24, 48, 80)),
    *(("cpu", gigabytes) for gigabytes in (8, 16, 24)),
]


def qwen(hidden: int, layers: int, heads: int, kv_heads: int, intermediate: int, *, tied: bool = False) -> Shape:
    return Shape(hidden, layers, heads, kv_heads, 128 if hidden > 896 else 64, intermediate, 152_064, tied, 32_768)


BASES = {  # Qwen2.5's
    "0.5B": qwen(896, 24, 14, 2, 4864, tied=True),
    "1.5B": qwen(1536, 28, 12, 2, 8960, tied=True),
    "3B": qwen(2048, 36, 16, 2, 11008, tied=True),
    "7B": qwen(3584, 28, 28, 4, 18944),
    "14B": qwen(5120, 48, 40, 8, 13824),
    "32B": qwen(5120, 64, 40, 8, 27648),
    "72B": qwen(8192, 80, 64, 8, 29568),
}


def trains(shape: Shape, device: Device, gigabytes: int, length: int) -> bool:
    """With NF4, rank 16 and checkpointing, on a CPU that does not multiply bf16."""
    available = 1000 * gigabytes - (SYSTEM_MB if device == "cpu" else 0)
    dequantised = dequantised_fits(shape, available, device)
    setting = Setting(length, dequantised=dequantised, native_bf16=False, checkpointing=True, device=device)
    four_bit = replace(setting, dequantised=False)
    return min(predict(shape, one).total for one in (setting, four_bit)) <= ROOM * available


def largest(device: Device, gigabytes: int, length: int) -> str:
    return next((name for name, shape in reversed(BASES.items()) if trains(shape, device, gigabytes, length)), "none")


def table() -> str:
    cards = [str(gigabytes) for device, gigabytes in MACHINES if device == "cuda"]
    others = [str(gigabytes) for device, gigabytes in MACHINES if device == "cpu"]
    first = ["window", f"card, {cards[0]} GB", *cards[1:], f"CPU or Apple, {others[0]} GB", *others[1:]]
    rows = [[f"{length:,}", *(largest(*machine, length) for machine in MACHINES)] for length in LENGTHS]
    lines = [f"| {' | '.join(row)} |\n" for row in [first, *rows]]
    return "".join([lines[0], f"|{'---|' * len(first)}\n", *lines[1:]])


def test_the_page_has_the_table_that_the_memory_model_makes() -> None:
    made = table()
    text = PAGE.read_text(encoding="utf-8")
    start = text.index("| window | card, ")
    assert text[start : text.index("\n\n", start) + 1] == made


def test_more_memory_never_trains_less_and_longer_windows_never_more() -> None:
    order = ["none", *BASES]
    for device in ("cuda", "cpu"):
        sizes = [gigabytes for kind, gigabytes in MACHINES if kind == device]
        for length in LENGTHS:
            found = [order.index(largest(device, gigabytes, length)) for gigabytes in sizes]
            assert found == sorted(found)
        for gigabytes in sizes:
            found = [order.index(largest(device, gigabytes, length)) for length in LENGTHS]
            assert found == sorted(found, reverse=True)
