import re

import pytest

from data.test_shipped_templates import NAMES
from data.written_calls import CALLS, FILE, SCHEMAS, as_text, written_by
from imprint_trainer.data.calls import FORMATS, read_calls

# These write no calls of an assistant's turn: their bases get tools, and call them, in Imprint's own words.
WITHOUT_CALLS = {
    *("cohere", "cohere2", "deepseek_r1_distill", "gemma", "gemma3", "idefics3", "lfm2", "llama3", "llava_next"),
    *("phi3", "phi3_5", "qwen2_5_vl", "smolvlm"),
}
# May be missing at a turn's end, but where it ends the call's arguments (GLM).
LAST_MARK = re.compile(r"(?:</tool_call>|<[^<>]*tool[_▁]calls?[^<>]*>|</atem:[^<>]*>)\Z")
ONE_CALL_A_TURN = {"gptoss", "llama3_1", "llama3_2"}


@pytest.mark.parametrize("name", NAMES)
def test_calls_are_read_back_from_how_a_shipped_template_writes_them(name: str) -> None:
    written = written_by(name)
    assert (not written) is (name in WITHOUT_CALLS)
    assert (len(written) == 1) is (name in ONE_CALL_A_TURN)
    for count, (form, text, _) in written.items():
        assert form != "generic"
        # A turn's last mark may be missing, but where it ends the call's arguments.
        cut = (
            text
            if form == "glm"
            else re.sub(r"(?:</tool_call>|<[^<>]*tool[_▁]calls?[^<>]*>|</atem:[^<>]*>)\Z", "", text)
        )
        assert read_calls(text, form, SCHEMAS) == read_calls(cut, form, SCHEMAS) == list(CALLS[:count])


@pytest.mark.parametrize("name", sorted({*NAMES} - WITHOUT_CALLS))
def test_an_answer_that_is_cut_off_has_the_calls_before_the_cut(name: str) -> None:
    for form, text, _ in written_by(name).values():
        for length in range(0, len(text), 11):
            calls = read_calls(text[:length], form, SCHEMAS)
            whole = [one for one in calls if one.arguments is not None]
            assert whole == list(CALLS[: len(whole)])
            assert len(calls) <= len(whole) + 1
            assert all(known.name.startswith(one.name) for known, one in zip(CALLS, calls, strict=False))


NO_CALLS = ['{"function": "f"}', '{"function": {"name": 5}}', '{"arguments": {}}', "[1]", "[]", '"x"', "", "{"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("text", NO_CALLS)
def test_json_that_is_no_call_is_none(form: str, text: str) -> None:
    assert read_calls(text, form) == read_calls(f"<tool_call>{text}</tool_call>", form) == []


def test_the_service_reads_back_what_the_templates_write_now() -> None:
    """`PYTHONPATH=../src python -m data.written_calls` in trainer/tests writes the file."""
    assert FILE.read_text(encoding="utf-8") == as_text()
