import json

import pytest

from data.families import tokenizer_of, tokenizer_with
from data.sessions import agent, session_of, user
from data.sessions import answers as answers_of
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.evaluation.actions import Call, read_call, syntaxes

FAMILIES = ["chatml", "qwen2_5", "qwen3", "llama3", "llama3_1", "mistral", "gemma", "gptoss", "deepseekv3"]
ARGUMENTS = {"path": "src/é.py", "new_string": 'a "b"\n\t<tool_call>', "nested": {"deep": [1, None]}}

# Qwen3-Coder writes arguments between tags.
TAGGED = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content }}{% for c in m.tool_calls or [] %}"
    "{{ '\n<tool_call>\n<function=' + c.function.name + '>\n' }}{% for k, v in c.function.arguments.items() %}"
    "{{ '<parameter=' + k + '>\n' + (v if v is string else v | tojson) + '\n</parameter>\n' }}{% endfor %}"
    "{{ '</function>\n</tool_call>' }}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", ["", "I edit the file."])
def test_a_recorded_call_is_read_back_from_how_the_template_writes_it(family: str, text: str) -> None:
    tokenizer = tokenizer_of(family)
    session = session_of(user("Fix it."), agent(text, ("edit.file", json.dumps(ARGUMENTS), "ok")))
    (answer,) = answers_of(prepare_windows(session, tokenizer, max_length=1024), tokenizer)
    assert read_call(answer, syntaxes(tokenizer)) == Call("edit.file", ARGUMENTS)
    cut = read_call(answer[: answer.index("nested")], syntaxes(tokenizer))
    assert cut == Call("edit.file", None)


def test_arguments_between_tags_are_read_back() -> None:
    tokenizer = tokenizer_with(TAGGED, ("<|im_start|>", "<|im_end|>"))
    session = session_of(user("Fix it."), agent("I do.", ("edit", json.dumps({"path": "a.py", "new": "x\ny"}), "ok")))
    (answer,) = answers_of(prepare_windows(session, tokenizer, max_length=1024), tokenizer)
    assert "<parameter=path>" in answer
    assert read_call(answer, syntaxes(tokenizer)) == Call("edit", {"path": "a.py", "new": "x\ny"})
    assert read_call(answer[: answer.index("</function>")], syntaxes(tokenizer)) == Call("edit", None)


def test_a_name_right_before_its_arguments_is_read_whole() -> None:
    """Mistral writes [TOOL_CALLS]name{...} since its tokenizer v11."""
    written = "'\n<call>' + c.function.name + (c.function.arguments | tojson)"
    source = (
        TAGGED[: TAGGED.index("{{ '\n<tool_call>")]
        + "{{ "
        + written
        + " }}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    )
    source += "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    known = syntaxes(tokenizer_with(source, ("<|im_start|>", "<|im_end|>")))
    assert read_call('I do.\n<call>edit_file{"path": "a.py"}<|im_end|>', known) == Call("edit_file", {"path": "a.py"})


@pytest.mark.parametrize("family", FAMILIES)
def test_an_answer_without_a_call_has_none(family: str) -> None:
    known = syntaxes(tokenizer_of(family))
    assert read_call('I would call {"tool": 1} but do not.', known) is None
    assert read_call("", known) is None


def test_the_fallback_is_read_whatever_the_template_writes() -> None:
    text = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'
    for family in ("llama3", "mistral", "gptoss"):
        assert read_call(text, syntaxes(tokenizer_of(family))) == Call("bash", {"command": "ls"})


def test_arguments_that_are_no_object_are_no_call() -> None:
    known = syntaxes(tokenizer_of("qwen2_5"))
    assert read_call('<tool_call>\n{"name": "bash", "arguments": 5}\n</tool_call>', known) == Call("bash", None)
