"""How an answer begins that has to be a call: written for the model, which goes on from there."""

from collections.abc import Mapping

from imprint_trainer.protocol import ChatSpec, NamedTool

PLAIN = ('<tool_call>\n{"name": "', '", "arguments":')  # what every format understands
# Up to a call's name, and behind it, without the space that the next token begins with; by the names of
# `packages/server/src/chat/tool-calls/formats.ts`.
OPENINGS: Mapping[str, tuple[str, str]] = {
    "qwen3-coder": ("<tool_call>\n<function=", ">\n"),
    "llama3": ('{"name": "', '", "parameters":'),
    "mistral": ('[TOOL_CALLS][{"name": "', '", "arguments":'),
    "granite": ('<|tool_call|>[{"name": "', '", "arguments":'),
    "gemma4": ("<|tool_call>call:", "{"),
    "functiongemma": ("<start_function_call>call:", "{"),
}


def opening_of(spec: ChatSpec, tool_format: str | None) -> str:
    """Empty where no call has to be made; without a name where several tools may be called."""
    if tool_format is None or spec.tool_choice == "auto":
        return ""
    before, behind = OPENINGS.get(tool_format, PLAIN)
    if isinstance(spec.tool_choice, NamedTool):
        return before + spec.tool_choice.name + behind
    return before + spec.tools[0].name + behind if len(spec.tools) == 1 else before
