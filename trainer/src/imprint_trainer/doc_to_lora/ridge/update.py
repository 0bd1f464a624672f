"""A session's windows -> the update of a ridge hypernetwork, in one forward pass."""

from collections.abc import Callable, Sequence

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.generate import Update
from imprint_trainer.doc_to_lora.ridge.load import Ridge
from imprint_trainer.doc_to_lora.ridge.reading import read_windows
from imprint_trainer.doc_to_lora.ridge.solve import solve
from imprint_trainer.doc_to_lora.targets import check_fits
from imprint_trainer.errors import NothingToTrain
from imprint_trainer.lora.loss import Read, read_whole
from imprint_trainer.models.causal_lm import CausalLM


def update_of(
    ridge: Ridge,
    model: CausalLM,
    windows: Sequence[Window],
    *,
    rank: int | None = None,
    read: Read = read_whole,
    stop: Callable[[], None] = lambda: None,
) -> Update:
    """`rank` None takes the hypernetwork's own. Raises NothingToTrain where nothing is supervised, HypernetworkInvalid
    for a base model that does not fit, and what `stop` raises."""
    check_fits(model, ridge.config)
    if not any(window.supervised_count for window in windows):
        raise NothingToTrain("The agent wrote nothing in what was read of the session.")
    gram = read_windows(model, ridge.config, windows, read=read, stop=stop)
    solved = solve(gram, ridge.statistics, ridge.config, rank=rank)
    return Update(solved.factors, gram.read, len(windows), solved.uncut_rank, solved.error)


def worth_reading(windows: Sequence[Window], most: int, most_supervised: int) -> list[int]:
    """Indices, in order, of at most so many windows: those in which the agent wrote most, until there are as many
    supervised tokens; of equals the later ones, which the session's next turns go on from."""
    order = sorted(range(len(windows)), key=lambda index: (-windows[index].supervised_count, -index))
    chosen: list[int] = []
    supervised = 0
    for index in order[:most]:
        if chosen and supervised >= most_supervised:
            break
        chosen.append(index)
        supervised += windows[index].supervised_count
    return sorted(index for index in chosen if windows[index].supervised_count)
