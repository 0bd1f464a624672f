"""Looks at a pickle without running it: only the opcodes that `torch.save` writes may pass."""

import pickletools

from imprint_trainer.errors import HypernetworkInvalid

ALLOWED = frozenset(
    {
        *("PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK"),
        *("NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
        *("BINUNICODE", "SHORT_BINUNICODE", "EMPTY_LIST", "APPEND", "APPENDS", "LIST"),
        *("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_DICT", "DICT", "SETITEM", "SETITEMS"),
        *("EMPTY_SET", "ADDITEMS", "FROZENSET", "BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT", "MEMOIZE"),
        *("GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "NEWOBJ", "BINPERSID"),
    }
)
_MEMO = frozenset({"BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET"})


def check_opcodes(data: bytes) -> None:
    """Raise HypernetworkInvalid for an opcode outside the list, a truncated stream, or a memo index that would
    make the unpickler allocate gigabytes."""
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name not in ALLOWED:
                raise HypernetworkInvalid(f"The checkpoint's pickle uses {opcode.name}, which torch.save never writes.")
            if opcode.name in _MEMO and isinstance(argument, int) and argument > len(data):
                raise HypernetworkInvalid("The checkpoint's pickle is hostile: its memo index is out of bounds.")
    except HypernetworkInvalid:
        raise
    except Exception as error:  # genops raises whatever its argument readers do
        raise HypernetworkInvalid(f"The checkpoint's pickle is truncated or damaged: {error}.") from None
