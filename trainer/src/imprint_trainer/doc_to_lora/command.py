"""A tool call as one line that a person would type."""

import json

from imprint_trainer.data.session import ToolCall

_COMMANDS = ("command", "cmd", "script", "code", "input")
_PATHS = ("path", "file_path", "filename", "file", "notebook_path")


def command_line(call: ToolCall) -> str:
    """The shell command of a call that runs one, tool and path of one that touches a file, else its arguments."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return f"{call.name} {call.arguments.strip()}".strip()  # free text, such as a patch
    if not isinstance(arguments, dict):
        return f"{call.name} {call.arguments.strip()}".strip()
    for name in _COMMANDS:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return " ".join(value)
    rest = dict(arguments)
    path = next((rest.pop(name) for name in _PATHS if isinstance(rest.get(name), str)), None)
    words = [call.name, *([path] if path else []), *([_compact(rest)] if rest else [])]
    return " ".join(words)


def _compact(arguments: dict[str, object]) -> str:
    if len(arguments) == 1 and isinstance(value := next(iter(arguments.values())), str):
        return value.strip()
    return json.dumps(arguments, ensure_ascii=False)
