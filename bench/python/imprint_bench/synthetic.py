"""Made-up sessions of any length, the same for the same seed: files are read, edited and tested, requests follow."""

import json
from random import Random

from imprint_trainer.data.session import Observation, Session, Source, Step, ToolCall, ToolDefinition

CHARACTERS = 2  # of the texts below a token, about, by the tokenizers at hand
WORDS = ("queue", "window", "retry", "parse", "socket", "cache", "ledger", "token", "buffer", "index", "merge", "route")
TOOLS = ("Read", "Edit", "Bash")
FILES = 8


def synthetic_session(*, tokens: int | None = None, turns: int | None = None, seed: int = 0) -> Session:
    """A session of about `tokens` tokens, or of `turns` agent turns and a last word."""
    random = Random(seed)
    files = {f"src/{WORDS[index]}.py": file_text(random, random.randint(20, 160)) for index in range(FILES)}
    steps = [
        Step(source="system", text="You work in a repository with the tools that you are given."),
        request(random, 0),
    ]
    characters = sum(len(step.text) for step in steps)
    answers = 0
    while answers < turns if turns is not None else characters < CHARACTERS * (tokens or 0):
        step = (
            request(random, len(steps))
            if answers % 24 == 23 and steps[-1].source == "agent"
            else turn(random, files, len(steps))
        )
        answers += step.source == "agent"
        characters += len(step.model_dump_json())
        steps.append(step)
    steps.append(Step(source="agent", text="That is all."))
    return Session(
        schema_version=1,
        session_id=f"synthetic-{tokens or turns}-{seed}",
        source=Source(format="native", format_version=None, agent=None, model=None, sha256="0" * 64),
        task_type=None,
        outcome="success",
        outcome_signal=None,
        started_at=None,
        tools=tuple(ToolDefinition(name=name, description=f"{name}s something in the repository.") for name in TOOLS),
        steps=tuple(steps),
        bad_lines=0,
        dropped=(),
        redactions=(),
    )


def request(random: Random, number: int) -> Step:
    return Step(source="user", text=f"Request {number}: {words(random, random.randint(10, 60))}.")


def turn(random: Random, files: dict[str, str], number: int) -> Step:
    path = random.choice(sorted(files))
    match random.choices(("read", "edit", "run", "say"), (4, 4, 3, 1))[0]:
        case "read":
            files[path] = file_text(random, random.randint(20, 160))  # nothing is read twice: see report.read_first
            shown = "".join(f"{place:6}\t{line}\n" for place, line in enumerate(files[path].splitlines(), 1))
            return called(f"I read {path}.", "Read", {"file_path": path}, shown, number)
        case "edit":
            old = random.choice(files[path].splitlines())
            new = f"    {random.choice(WORDS)}_{number} = {random.getrandbits(40):#x}"
            files[path] = files[path].replace(old, new, 1)
            arguments = {"file_path": path, "old_string": old, "new_string": new}
            return called(words(random, 12), "Edit", arguments, "ok", number)
        case "run":
            output = "".join(f"{words(random, 3)} {random.getrandbits(48):x}\n" for _ in range(random.randint(3, 120)))
            return called(words(random, 8), "Bash", {"command": f"pytest {path}"}, output, number)
    return Step(source="agent", text=f"Turn {number}: {words(random, random.randint(20, 120))}.")


def called(text: str, name: str, arguments: dict[str, str], content: str, number: int) -> Step:
    call = ToolCall(id=f"c{number}", name=name, arguments=json.dumps(arguments))
    return Step(
        source="agent", text=text, tool_calls=(call,), observations=(Observation(call_id=call.id, content=content),)
    )


def file_text(random: Random, lines: int) -> str:
    return "".join(f"    {random.choice(WORDS)}_{line} = {random.getrandbits(40):#x}\n" for line in range(lines))


def words(random: Random, count: int) -> str:
    return " ".join(random.choices(WORDS, k=count))
