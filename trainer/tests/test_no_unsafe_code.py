"""Nothing in the trainer unpickles, evaluates, starts a shell or trusts remote code."""

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src"
MODULES = {"pickle", "dill", "joblib", "cloudpickle", "marshal", "shelve", "jsonpickle"}
CALLS = {"eval", "exec", "compile", "__import__", "torch.load", "yaml.load", "os.system", "os.popen"}
# Reads published checkpoints, which exist in no other form; its unpickler imports nothing (its own tests).
RESTRICTED_READER = SOURCES / "doc_to_lora" / "unpickle.py"
SWITCHES = {"trust_remote_code", "allow_pickle", "shell"}


def unsafe(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            found += [name] if name in CALLS else []
            found += [
                f"{word.arg}={ast.unparse(word.value)}"
                for word in node.keywords
                if word.arg in SWITCHES and not (isinstance(word.value, ast.Constant) and word.value.value is False)
            ]
    return found


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCES)))
def test_a_source_file_is_safe(path: Path) -> None:
    allowed = ["pickle"] if path == RESTRICTED_READER else []
    assert unsafe(ast.parse(path.read_text(encoding="utf-8"))) == allowed


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from dill import loads",
        "torch.load(x)",
        "eval(x)",
        "f(trust_remote_code=True)",
        "run(x, shell=flag)",
    ],
)
def test_the_check_finds_what_it_forbids(code: str) -> None:
    assert unsafe(ast.parse(code)) != []
