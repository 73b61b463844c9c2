from brdiv.commands.line.processes import port_is_taken


def test_a_port_in_use_is_known_by_what_torch_says():
    assert port_is_taken(RuntimeError("The server socket has failed to listen, code: -98, name: EADDRINUSE"))
    assert not port_is_taken(RuntimeError("gloo: Connection closed by peer"))
