from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.board import Board, name_of
from imprint_trainer.protocol import ChatCall, ChatSpec, TrainLora, TrainLoraSpec

SPEC = TrainLoraSpec.model_construct()


def job(number: int) -> TrainLora:
    return TrainLora.model_construct(type="train_lora", job_id=f"{number:026d}", spec=SPEC)


def test_tasks_come_in_order_and_chats_among_them() -> None:
    board, chat = Board(), ChatCall.model_construct(type="chat", call_id="c", spec=ChatSpec.model_construct())
    for task in (job(1), chat, job(2)):
        assert board.add(task)
    taken = []
    for _ in range(3):
        taken.append(board.next())
        board.finish()
    assert taken == [job(1), chat, job(2)]


def test_a_job_given_twice_is_taken_once() -> None:
    board = Board()
    assert board.add(job(1))
    assert not board.add(job(1))
    assert board.next() == job(1)
    assert not board.add(job(1))


@given(st.lists(st.tuples(st.sampled_from(["add", "cancel"]), st.integers(0, 5)), max_size=40))
def test_exactly_the_waiting_jobs_that_nobody_cancelled_begin(actions: list[tuple[str, int]]) -> None:
    board, waiting = Board(), []
    for action, number in actions:
        if action == "add":
            assert board.add(job(number)) == (number not in waiting)
            waiting += [number] if number not in waiting else []
        else:
            assert board.cancel(name_of(job(number))) == (number in waiting)
            waiting = [one for one in waiting if one != number]
    begun = []
    for _ in waiting:
        task = board.next()
        assert task is not None
        begun.append(task)
        board.finish()
    assert sorted(task.job_id for task in begun) == sorted(job(number).job_id for number in waiting)


def test_a_cancel_reaches_the_running_job_and_not_the_next() -> None:
    board = Board()
    board.add(job(1))
    board.add(job(2))
    board.next()
    assert not board.cancel(name_of(job(1)))
    assert board.cancelled()
    board.finish()
    board.next()
    assert not board.cancelled()


def test_a_closed_board_stops_what_runs_and_begins_nothing() -> None:
    board = Board()
    board.add(job(1))
    board.add(job(2))
    board.next()
    board.close()
    assert board.cancelled()
    assert board.next() is None
