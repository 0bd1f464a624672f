"""Held-out text in two parts: one that chooses, and one that no choice sees."""

from dataclasses import dataclass
from typing import Any

from imprint_trainer.data.holdout import SMALLEST_PART, HeldOut


@dataclass(frozen=True)
class Texts:
    choosing: HeldOut
    unseen: HeldOut | None  # None: too little is held out to spare a part

    @property
    def proving(self) -> HeldOut:
        """What the chosen adapter's proof is measured on."""
        return self.unseen or self.choosing


def parted(held_out: HeldOut) -> Texts:
    """The later half of the sessions chooses nothing, or of the windows where one session is held out: cut where the
    halves' supervised tokens differ the least, and nowhere if one would be too small to measure anything."""
    order = {session_id: at for at, session_id in enumerate(held_out.sessions)}
    windows = sorted(held_out.windows, key=lambda one: order[one[0]])  # stable: those of a session stay in order
    sessions = [session_id for session_id, _ in windows]
    total = sum(window.supervised_count for _, window in windows)
    cuts: dict[int, int] = {}
    before = 0
    for at, (session_id, window) in enumerate(windows[:-1], start=1):
        before += window.supervised_count
        whole = len(set(sessions)) == 1 or session_id != sessions[at]
        if whole and min(before, total - before) >= SMALLEST_PART:
            cuts[at] = abs(total - 2 * before)
    if not cuts:
        return Texts(held_out, None)
    cut = min(cuts, key=lambda at: cuts[at])
    return Texts(part(windows[:cut]), part(windows[cut:]))


def part(windows: list[tuple[str, Any]]) -> HeldOut:
    return HeldOut(tuple(dict.fromkeys(session_id for session_id, _ in windows)), tuple(windows))


def size_of(held_out: HeldOut) -> dict[str, int]:
    """`chosen_on` and `unseen` of the contracts' `Sweep`."""
    return {
        "windows": len(held_out.windows),
        "supervised_tokens": sum(window.supervised_count for _, window in held_out.windows),
    }
