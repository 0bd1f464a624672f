import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doc_to_lora.prompt import (
    FAMILIES,
    Affixes,
    chunk_affixes,
    document_ids,
    family_of,
    render_document,
    split_chunks,
    split_into,
)
from imprint_trainer.errors import TemplateUnsupported

from .tiny import BASE, CHATML, tiny_tokenizer

TOKENIZER = tiny_tokenizer()
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + CHATML


def test_the_document_stands_alone_in_a_user_turn_after_an_empty_system_turn() -> None:
    assert render_document(TOKENIZER, BASE, "  Hello\n") == (
        "<|im_start|>system\n<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_without_system_turns_gets_none() -> None:
    rendered = render_document(tiny_tokenizer(NO_SYSTEM), BASE, "Hello")
    assert rendered == "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize("template", ["{{ raise_exception('never') }}", "{{ nonsense("])
def test_a_template_that_renders_nothing_is_refused(template: str) -> None:
    with pytest.raises(TemplateUnsupported, match=BASE):
        render_document(tiny_tokenizer(template), BASE, "Hello")


def test_markers_are_single_tokens_and_none_is_added() -> None:
    ids = document_ids(TOKENIZER, BASE, "Hi")
    assert TOKENIZER.decode(ids) == render_document(TOKENIZER, BASE, "Hi")
    assert ids.count(TOKENIZER.convert_tokens_to_ids("<|im_start|>")) == 3


@settings(max_examples=50)
@given(text=st.text(min_size=1).filter(lambda text: text.strip() and "<|" not in text))
def test_affixes_of_an_unknown_tokenizer_are_what_surrounds_any_document(text: str) -> None:
    affixes = chunk_affixes(TOKENIZER, BASE)
    ids = document_ids(TOKENIZER, BASE, text)
    assert tuple(ids[: len(affixes.prefix)]) == affixes.prefix
    assert tuple(ids[-len(affixes.suffix) :]) == affixes.suffix
    assert TOKENIZER.decode(affixes.prefix) == "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n"
    assert TOKENIZER.decode(affixes.suffix) == "<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("name", "prefix", "suffix"),
    [
        ("google/gemma-2-2b-it", (2, 106, 1645, 110), (107, 108, 106, 2516, 108)),
        ("mistralai/Mistral-7B-Instruct-v0.2", (1, 733, 16289, 28793, 28705, 13, 13), (733, 28748, 16289, 28793)),
        (
            "Qwen/Qwen3-4B-Instruct-2507",
            (151644, 8948, 198, 151645, 198, 151644, 872, 198),
            (151645, 198, 151644, 77091, 198),
        ),
    ],
)
def test_published_families_use_their_published_ids_whatever_the_tokenizer(
    name: str, prefix: tuple[int, ...], suffix: tuple[int, ...]
) -> None:
    affixes = chunk_affixes(TOKENIZER, name)
    assert (affixes.prefix, affixes.suffix) == (prefix, suffix)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("google/gemma-2-2b-it", 0),
        ("C:\\models\\gemma-2-9b-it\\", 0),
        ("mistralai/Mistral-7B-Instruct-v0.2", 1),
        ("/models/Qwen3-4B-Instruct-2507/", 2),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", 2),
        ("Qwen/Qwen3-4B", None),
        ("google/gemma-3-4b-it", None),
        ("mistralai/Mistral-7B-Instruct-v0.3", None),
        ("gemma-2-2b-it/finetuned", None),
    ],
)
def test_a_family_is_known_by_the_last_part_of_its_name(name: str, index: int | None) -> None:
    assert family_of(name) is (None if index is None else FAMILIES[index])


AFFIXES = Affixes((-1, -2), (-3,))


@given(n=st.integers(0, 200), longest=st.integers(-2, 50))
def test_slices_are_short_enough_and_make_up_the_document(n: int, longest: int) -> None:
    chunks = split_chunks(range(n), longest, AFFIXES)
    assert [i for chunk in chunks for i in chunk if i >= 0] == list(range(n))
    if longest >= 1:
        assert len(chunks) == max(1, -(-n // longest))
        assert all(sum(i >= 0 for i in chunk) <= longest for chunk in chunks)
    else:
        assert len(chunks) == 1


@given(n=st.integers(1, 200), count=st.integers(1, 30))
def test_affixes_stand_where_the_document_was_cut_and_nowhere_else(n: int, count: int) -> None:
    chunks = split_into(range(n), count, AFFIXES)
    assert 1 <= len(chunks) <= count
    for index, chunk in enumerate(chunks):
        assert (chunk[:2] == [-1, -2]) is (index > 0)
        assert (chunk[-1] == -3) is (index < len(chunks) - 1)


def test_no_length_means_one_chunk() -> None:
    assert split_chunks([5, 6, 7], None, AFFIXES) == [[5, 6, 7]]
