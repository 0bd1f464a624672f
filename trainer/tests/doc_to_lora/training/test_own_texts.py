import torch

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.own_texts import (
    OPENINGS,
    PROSE_TOKENS,
    QUESTION_TOKENS,
    own_prose,
    own_questions,
)
from imprint_trainer.doc_to_lora.training.prompts import Prompts


def test_questions_are_a_function_of_the_seed_and_follow_the_header_of_a_users_turn(tiny_base: Base) -> None:
    prompts = Prompts(tiny_base.tokenizer)
    frozen = FrozenBase(tiny_base.model, prompts.prefix)
    read: list[list[int]] = []
    hook = tiny_base.model.get_input_embeddings().register_forward_pre_hook(
        lambda _, args: read.append(args[0][0].tolist())
    )
    questions = own_questions(frozen, prompts, 5, seed=3)
    hook.remove()
    assert read[0] == prompts.prefix + prompts.asking
    assert questions == own_questions(frozen, prompts, 5, seed=3)
    assert questions != own_questions(frozen, prompts, 5, seed=4)
    assert len(set(questions)) > 1
    assert all(len(prompts.plain(text)) <= 4 * QUESTION_TOKENS for text in questions)


def test_prose_begins_with_one_of_the_words_and_has_no_end_in_it(tiny_base: Base) -> None:
    prompts = Prompts(tiny_base.tokenizer)
    texts = list(own_prose(FrozenBase(tiny_base.model, []), prompts, ["harbor", "cloud"], 4, seed=0))
    starts = [prompts.plain(opening.format(word)) for opening in OPENINGS for word in ("harbor", "cloud")]
    assert len(texts) == 4
    for ids in texts:
        assert any(ids[: len(start)] == start for start in starts)
        assert prompts.end not in ids
        assert len(ids) <= max(map(len, starts)) + PROSE_TOKENS


def test_sampling_leaves_the_callers_random_numbers_alone(tiny_base: Base) -> None:
    state = torch.get_rng_state()
    FrozenBase(tiny_base.model, []).sample([[5, 6]], 2, 4, "seed")
    assert torch.equal(torch.get_rng_state(), state)
