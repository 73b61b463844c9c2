import pytest
import torch

from brdiv.training.ranks import another_process_is_gone, why_it_is_gone


def test_a_process_that_does_not_answer_is_told_from_one_that_has_ended():
    assert "did not answer in time" in why_it_is_gone(RuntimeError("gloo: Timed out waiting 1800000ms for recv"))
    assert "did not answer in time" in why_it_is_gone(RuntimeError("Application timeout caused pair closure"))
    assert "has ended" in why_it_is_gone(RuntimeError("gloo: Connection closed by peer"))


@pytest.mark.parametrize("words", ["gloo: Connection closed by peer", "Application timeout caused pair closure"])
def test_an_error_of_gloo_is_one_of_processes_only_where_there_are_several(words, monkeypatch):
    error = RuntimeError(words)
    assert not another_process_is_gone(error)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    assert another_process_is_gone(error)
    assert not another_process_is_gone(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
