import os

from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.channel import TooLong, read_lines


def lines_of(pieces: list[bytes], max_bytes: int) -> list[bytes | None]:
    """What arrives when `pieces` are written one by one; None for a line that was too long."""
    reading, writing = os.pipe()
    try:
        found: list[bytes | None] = []
        for piece in pieces:
            os.write(writing, piece)
        os.close(writing)
        for line in read_lines(reading, max_bytes=max_bytes):
            found.append(None if isinstance(line, TooLong) else line)
        return found
    finally:
        os.close(reading)


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=20), st.integers(1, 20))
def test_lines_arrive_whole_however_they_are_cut(lines: list[bytes], size: int) -> None:
    text = b"".join(line + b"\n" for line in lines)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert lines_of(pieces, 20) == [
        None if len(line) > 20 else line for line in lines if line.strip() or len(line) > 20
    ]


def test_half_a_line_at_the_end_is_no_line() -> None:
    assert lines_of([b"whole\nha", b"lf"], 100) == [b"whole"]


def test_a_line_longer_than_a_chunk_is_passed_over_once() -> None:
    assert lines_of([b"x" * 60_000], 10) == []
    assert lines_of([b"x" * 50 + b"\nnext\n"], 10) == [None, b"next"]
