import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import normalize

from imprint_trainer.doc_to_lora.training.basis import (
    FLOOR,
    OUTPUT_SCALE,
    Text,
    discriminating,
    measure_basis,
    measure_moments,
    output_axes,
    output_rows,
)
from imprint_trainer.doc_to_lora.training.build import make_config
from imprint_trainer.doc_to_lora.training.config import Shape

from ..tiny import tiny_model

TEXTS = [Text(list(range(40, 60)), 5, 20), Text(list(range(10, 22)), 11, 12)]


def test_moments_are_those_of_the_positions_that_count() -> None:
    model = tiny_model(layers=3)
    config = make_config(model, "tiny", Shape(first_layer=1, num_layers=2, exit_layer=1))
    inputs: list[torch.Tensor] = []
    left: list[torch.Tensor] = []
    layer = model.model.layers[2]
    layer.mlp.down_proj.register_forward_pre_hook(lambda _, args: inputs.append(args[0][0]))
    layer.register_forward_hook(lambda _, __, out: left.append((out[0] if isinstance(out, tuple) else out)[0]))
    for text in TEXTS:
        model(torch.tensor([text.ids]))
    counted = torch.cat([x[text.start : text.end] for x, text in zip(inputs, TEXTS, strict=True)])
    norms = torch.cat([x[text.start : text.end] for x, text in zip(left, TEXTS, strict=True)]).norm(dim=-1)

    moments = measure_moments(model, TEXTS, config)[1]
    assert torch.allclose(moments.inputs, counted.mT @ counted / len(counted), rtol=1e-3, atol=1e-5)
    assert torch.allclose(moments.residual_norm, norms.mean(), rtol=1e-4)

    basis, scale = measure_basis(model, TEXTS, [Text(list(range(20)), 1, 20)], config, 6)
    assert basis.shape == (2, 6, 28)
    assert torch.allclose((counted @ basis[1].mT).square().mean(), torch.tensor(1.0), atol=1e-2)
    assert torch.allclose(scale[1], norms.mean() * OUTPUT_SCALE, rtol=1e-4)


@given(st.integers(0, 1000))
def test_axes_are_sorted_by_how_much_less_of_other_texts_they_see(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    own, other = (torch.randn(200, 8, generator=generator) @ torch.randn(8, 8, generator=generator) for _ in range(2))
    axes = discriminating(own.mT @ own / 200, other.mT @ other / 200, 4)
    spoken = (own @ axes.mT).square().mean(0)
    assert torch.allclose(spoken.mean(), torch.tensor(1.0), atol=1e-3)
    axes = axes / spoken.sqrt()[:, None]
    floor = own.square().mean() * FLOOR * axes.square().sum(-1)
    seen = (other @ axes.mT).square().mean(0) + floor
    assert (seen.diff() > -1e-4).all()
    directions = torch.randn(50, 8, generator=generator)
    directions = directions / (own @ directions.mT).square().mean(0).sqrt()[:, None]
    assert float(seen[0]) <= float((other @ directions.mT).square().mean(0).min()) + float(floor[0])


def test_an_axis_of_ordinary_text_alone_is_left_out() -> None:
    own, other = torch.diag(torch.tensor([1.0, 1.0, 0.1])), torch.diag(torch.tensor([0.0, 1.0, 100.0]))
    assert discriminating(own, other, 1)[0].abs().argmax() == 0
    assert float(discriminating(own, other, 2)[:, 2].abs().max()) < 1e-6


def test_what_is_written_in_the_output_axes_raises_its_own_token_alone() -> None:
    model = tiny_model(layers=1)
    embeddings = model.get_output_embeddings().weight
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():  # a direction that every token leans along, as real vocabularies have
        leaning = torch.randn(len(embeddings), 1, generator=generator) * embeddings.std() * 10
        embeddings += leaning * torch.randn(1, embeddings.shape[1], generator=generator)
        model.model.norm.weight.uniform_(0.5, 2.0, generator=generator)
    axes, rows = output_axes(model), output_rows(model)
    written = normalize(rows @ axes, dim=-1) @ axes
    assert torch.allclose(written.norm(dim=-1).mean(), torch.tensor(1.0), atol=1e-3)

    def heard_by_others(pushes: torch.Tensor) -> float:
        """Mean square of what other logits move by, for each push that moves its own by one."""
        with torch.no_grad():  # the last norm of a long residual only scales what little is added
            logits = model.lm_head(model.model.norm.weight * pushes)
        moved = logits - logits.mean(-1, keepdim=True)
        moved = moved / moved.diagonal()[:, None]
        return float((moved - torch.eye(len(moved))).square().mean())

    assert heard_by_others(written) < heard_by_others(embeddings.detach()) / 2
