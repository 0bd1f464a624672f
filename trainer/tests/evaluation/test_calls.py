import json

import pytest

from imprint_trainer.evaluation.actions import Call, files_of, same_arguments, same_call, same_files


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": [1, "x"]}, {"b": [1, "x"], "a": 1}, True),
        ({"command": "ls  -la\n"}, {"command": "ls -la"}, True),
        ({"command": "ls -la"}, {"command": "ls -l"}, False),
        ({"limit": 5}, {"limit": "5"}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": {}}, {"a": "{}"}, False),
        ({"path": "/home/me/repo/src/a.py"}, {"path": "src/a.py"}, True),
        ({"path": "./src/a.py"}, {"path": "src/a.py"}, True),
        ({"file_path": "C:\\repo\\a.py"}, {"file_path": "a.py"}, True),
        ({"path": "lib/src/a.py"}, {"path": "src/a.py"}, False),
        ({"path": "/one/a.py"}, {"path": "/two/a.py"}, False),
        ({"path": "/x/ba.py"}, {"path": "a.py"}, False),
        ({"command": "/bin/ls"}, {"command": "ls"}, False),
        ("a  patch", "a patch", True),
    ],
)
def test_arguments_are_compared_after_normalising(one: object, other: object, same: bool) -> None:
    assert same_arguments(one, other) is same
    assert same_arguments(other, one) is same


def test_files_are_those_of_path_arguments_and_of_patches() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    assert files_of(Call("apply_patch", {"input": patch})) == files_of(Call("apply_patch", patch)) == ["a.py", "b.py"]
    read = Call("read", {"file_path": "/repo/src/a.py", "limit": 5})
    assert same_files(read, Call("edit", {"path": "src/a.py", "old_string": "x"}))
    assert not same_files(read, Call("bash", {"command": "cat src/a.py"}))
    assert not same_files(Call("bash", {"command": "ls"}), Call("bash", {"command": "ls"}))


def test_a_call_that_was_cut_off_is_like_no_other() -> None:
    assert not same_call(Call("bash", None), Call("bash", None))
    assert same_call(Call("bash", json.loads('{"command": "ls"}')), Call("bash", {"command": "ls "}))
    assert not same_files(Call("read", None), Call("read", {"path": "a.py"}))
