from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from transformers import PreTrainedTokenizerFast

from imprint_trainer.models.marks import without_unlearned_marks

MARKS = ("<tool_call>", "</tool_call>")
TEMPLATE = "{% for message in messages %}<tool_call>{{ message.content }}</tool_call>{% endfor %}"
WIDTH, UNUSED = 16, 5


def tokenizer(template: str = TEMPLATE) -> PreTrainedTokenizerFast:
    """Bytes are its words; an end that is trained, and two marks."""
    backend = Tokenizer(BPE({letter: index for index, letter in enumerate(sorted(ByteLevel.alphabet()))}, []))
    backend.pre_tokenizer, backend.decoder = ByteLevel(add_prefix_space=False), ByteLevelDecoder()
    made = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>", chat_template=template)
    made.add_tokens(list(MARKS))
    return made


def head(trained: bool, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """[tokens, WIDTH]: a row each; untrained marks have nearly that of the rows that no token uses."""
    torch.manual_seed(0)
    rows = torch.randn(len(tokenizer()) + UNUSED, WIDTH)
    rows[-UNUSED:] = rows[-1]
    if not trained:
        rows[-UNUSED - 2 : -UNUSED] = rows[-1] * torch.tensor([[1.003], [0.998]])
    return rows.to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("trained", [True, False])
def test_a_mark_whose_row_others_have_too_is_text(tmp_path: Path, dtype: torch.dtype, trained: bool) -> None:
    save_file({"model.embed_tokens.weight": head(trained, dtype)}, tmp_path / "model.safetensors")
    found = without_unlearned_marks(tokenizer(), tmp_path)
    text = found.apply_chat_template([{"role": "user", "content": "{}"}], tokenize=False)
    assert text == "<tool_call>{}</tool_call>"
    ids = found(text)["input_ids"]
    assert len(ids) == (4 if trained else len(text))
    assert found.decode(ids) == text
    assert found("<end>")["input_ids"] == tokenizer()("<end>")["input_ids"]


def test_the_head_decides_where_it_has_rows_of_its_own(tmp_path: Path) -> None:
    save_file({"model.embed_tokens.weight": head(False)}, tmp_path / "model-1.safetensors")
    save_file({"lm_head.weight": head(True)}, tmp_path / "model-2.safetensors")
    assert len(without_unlearned_marks(tokenizer(), tmp_path)(MARKS[0])["input_ids"]) == 1


def test_what_no_template_writes_and_what_cannot_be_read_stays_as_it_is(tmp_path: Path) -> None:
    assert len(without_unlearned_marks(tokenizer(), tmp_path)(MARKS[0])["input_ids"]) == 1
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 64)
    assert len(without_unlearned_marks(tokenizer(), tmp_path)(MARKS[0])["input_ids"]) == 1
    save_file({"model.embed_tokens.weight": head(False)}, tmp_path / "model.safetensors")
    silent = tokenizer("{{ messages[0].content }}")
    assert len(without_unlearned_marks(silent, tmp_path)(MARKS[0])["input_ids"]) == 1
