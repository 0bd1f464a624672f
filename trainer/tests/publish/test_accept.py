from typing import Any

import pytest
import torch

from imprint_trainer.lora.adapter import Payload, adapter_config
from imprint_trainer.publish.peft_format import llama_cpp_accepts, vllm_accepts

KEY = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"


def payload(rank: int = 16, key: str = KEY, **changes: Any) -> Payload:
    config = adapter_config(rank=rank, alpha=32.0, targets=["q_proj"], base_model_name="tiny") | changes
    return Payload({key: torch.ones(rank, 8)}, config)


def test_a_plain_adapter_is_accepted_without_remarks() -> None:
    assert vllm_accepts(payload()) == llama_cpp_accepts(payload())
    assert vllm_accepts(payload()).accepted
    assert vllm_accepts(payload()).remarks == ()


@pytest.mark.parametrize(("rank", "flag"), [(17, 32), (64, 64), (300, 320), (512, 512)])
def test_a_larger_rank_is_accepted_with_the_flag_that_vllm_needs(rank: int, flag: int) -> None:
    acceptance = vllm_accepts(payload(rank))
    assert acceptance.accepted
    assert f"--max-lora-rank {flag}:" in acceptance.remarks[0]


@pytest.mark.parametrize(
    "changes",
    [{"rank": 513}, {"modules_to_save": ["lm_head"]}, {"bias": "all"}, {"use_dora": True}, {"target_modules": None}],
)
def test_vllm_refuses_what_its_loader_refuses(changes: dict[str, Any]) -> None:
    acceptance = vllm_accepts(payload(**changes))
    assert not acceptance.accepted
    assert len(acceptance.remarks) == 1


def test_tensors_of_other_kinds_are_refused_by_both() -> None:
    odd = payload(key="base_model.model.model.embed_tokens.lora_embedding_A")
    for acceptance in (vllm_accepts(odd), llama_cpp_accepts(odd)):
        assert not acceptance.accepted
        assert "lora_embedding_A" in acceptance.remarks[0]
