from imprint_trainer.doc_to_lora.training.evaluation.cases import make_rows

SESSIONS = ["Task: fix it\nCommand: npm test\nResult: ok", "Task: other\nOutcome: done"]


def test_a_row_has_as_many_documents_as_asked_for() -> None:
    rows = make_rows(7, seed=0, sessions=SESSIONS)
    assert [len(row.examples) for row in rows] == [7] * 6
    assert len(make_rows(7, seed=0)) == 5


def test_rows_are_a_function_of_the_seed() -> None:
    assert make_rows(5, seed=3, sessions=SESSIONS) == make_rows(5, seed=3, sessions=SESSIONS)
    assert make_rows(5, seed=3) != make_rows(5, seed=4)


def test_every_document_states_its_answer() -> None:
    for row in make_rows(40, seed=1, sessions=SESSIONS):
        for example in row.examples:
            assert example.answer in example.document
            assert example.answer.lower() not in example.question.lower()


def test_a_fact_in_a_session_is_stated_once_and_nothing_else_is_changed() -> None:
    for example in make_rows(20, seed=2, sessions=SESSIONS)[-1].examples:
        rest = [line for line in example.document.split("\n") if example.answer not in line]
        assert "\n".join(rest) in SESSIONS
        assert len(example.document.split("\n")) == len(rest) + 1
