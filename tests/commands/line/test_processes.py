from brdiv.commands.line.processes import port_is_taken, why_it_is_gone


def test_a_process_that_does_not_answer_is_told_from_one_that_has_ended():
    assert "did not answer in time" in why_it_is_gone(RuntimeError("gloo: Timed out waiting 1800000ms for recv"))
    assert "has ended" in why_it_is_gone(RuntimeError("gloo: Connection closed by peer"))


def test_a_port_in_use_is_known_by_what_torch_says():
    assert port_is_taken(RuntimeError("The server socket has failed to listen, code: -98, name: EADDRINUSE"))
    assert not port_is_taken(RuntimeError("gloo: Connection closed by peer"))
