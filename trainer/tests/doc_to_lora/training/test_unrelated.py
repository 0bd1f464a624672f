import pytest

from imprint_trainer.doc_to_lora.training.config import RetentionConfig
from imprint_trainer.doc_to_lora.training.unrelated import unrelated_questions


def test_the_evaluation_asks_other_questions_than_the_training() -> None:
    most = RetentionConfig.model_fields["unrelated"].metadata[1].le
    trained = unrelated_questions(most, held_out=False, seed=0)
    tested = unrelated_questions(100, held_out=True, seed=0)
    assert len(set(trained)) == most
    assert len(set(tested)) == 100
    assert not set(trained) & set(tested)


def test_more_questions_than_there_are_is_an_error() -> None:
    with pytest.raises(ValueError, match="unrelated questions exist, 1000 were asked for"):
        unrelated_questions(1000, held_out=True, seed=0)
