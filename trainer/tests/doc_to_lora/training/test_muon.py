import torch

from imprint_trainer.doc_to_lora.training.muon import Muon, orthogonalise


def test_updates_have_singular_values_around_one() -> None:
    torch.manual_seed(0)
    for shape in ((20, 20), (12, 30), (30, 12), (3, 8, 16)):
        values = torch.linalg.svdvals(orthogonalise(torch.randn(shape)))
        assert float(values.min()) > 0.4
        assert float(values.max()) < 1.3


def test_updates_keep_the_singular_vectors() -> None:
    torch.manual_seed(1)
    matrix = torch.randn(6, 10)
    u, _, v = torch.linalg.svd(matrix, full_matrices=False)
    inner = u.mT @ orthogonalise(matrix) @ v.mT
    assert float((inner - inner.diagonal().diag()).abs().max()) < 1e-4


def test_a_stack_goes_matrix_by_matrix() -> None:
    torch.manual_seed(2)
    stack = torch.randn(4, 5, 7)
    alone = torch.stack([orthogonalise(matrix) for matrix in stack])
    assert torch.allclose(orthogonalise(stack), alone, atol=1e-5)


def test_a_step_moves_against_the_gradient_by_the_learning_rate() -> None:
    parameter = torch.nn.Parameter(torch.zeros(4, 4))
    optimizer = Muon([parameter], lr=0.5)
    parameter.grad = torch.eye(4)
    optimizer.step()
    assert torch.allclose(parameter.detach(), -0.5 * orthogonalise(torch.eye(4)), atol=1e-5)
    assert bool((parameter.diagonal() < -0.3).all())
