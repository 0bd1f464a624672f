from pathlib import Path

from imprint_trainer.data.session import load_session
from imprint_trainer.doc_to_lora.evaluation.passages import passage, session_files, spread
from imprint_trainer.doc_to_lora.prompt import document_ids
from imprint_trainer.models.base import LoadedBase

from .conftest import CHUNK, WORDS


def test_what_follows_a_part_is_no_turn_of_it(base: LoadedBase, groups: Path) -> None:
    file = session_files(groups)[0]
    one = passage(base, "tiny", file, 1, CHUNK, 2)
    assert one is not None
    assert (one.group, one.session, one.chunks) == ("harbour", "01", 1)
    assert one.tokens == len(document_ids(base.tokenizer, "tiny", one.text)) <= CHUNK
    assert one.tokens > CHUNK * 0.8
    read = base.tokenizer.decode(one.read[0].input_ids)
    rest = base.tokenizer.decode(one.rest[0].input_ids)
    assert WORDS[1] in one.text and WORDS[1] in read and WORDS[1] not in rest
    assert WORDS[-1] in rest and WORDS[-1] not in one.text
    assert load_session(file).steps[0].text in rest  # the task


def test_a_session_that_is_too_short_gives_none(base: LoadedBase, groups: Path) -> None:
    assert passage(base, "tiny", session_files(groups)[0], 16, CHUNK, 2) is None


def test_a_limit_takes_the_groups_in_turn(groups: Path) -> None:
    names = [f"{file.parent.name} {file.stem}" for file in session_files(groups, 3)]
    assert names == ["harbour 01", "yard 01", "harbour 02"]
    assert len(session_files(groups)) == 4


def test_windows_are_spread_over_a_session(base: LoadedBase, groups: Path) -> None:
    found = passage(base, "tiny", session_files(groups)[0], 1, CHUNK, 2)
    assert found is not None
    many = [found.read[0]] * 3 + [found.rest[0]]
    assert spread(many, 2) == [many[0], many[-1]]
    assert spread(many[:1], 2) == many[:1]
