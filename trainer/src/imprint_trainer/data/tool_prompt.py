"""Tools as text, for chat templates that list none: the prompt that Qwen 2.5's template writes, `docs/serving.md`.

Calls and results then stand in the messages' text as `data/messages.py` writes them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

PROMPT = """# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{tools}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""


UNSAID = ("", {"type": "object", "properties": {}})  # a description and parameters that say nothing


def tool_prompt(tools: Sequence[Mapping[str, Any]]) -> str:
    """What a tool has no words for is left out: windows often have room for names alone."""
    shown = [{**tool, "function": {k: v for k, v in tool["function"].items() if v not in UNSAID}} for tool in tools]
    return PROMPT.format(tools="\n".join(json.dumps(tool, ensure_ascii=False) for tool in shown))


def with_tool_prompt(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], *, system: bool
) -> list[Mapping[str, Any]]:
    """The prompt at the end of the system text, or ahead of the first request of a template without system role."""
    text, role = tool_prompt(tools), "system" if system else "user"
    if not messages or messages[0]["role"] != role:
        return [{"role": role, "content": text}, *messages]
    first, *rest = messages
    parts = (first["content"], text) if system else (text, first["content"])
    return [{**first, "content": "\n\n".join(parts)}, *rest]
