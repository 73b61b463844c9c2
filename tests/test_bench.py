from brdiv.cli import main


def test_every_game_is_timed(capsys):
    main(["bench", "--rows", "8", "--threads", "1"])
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["Reaching", "LBF", "Cooking"]
    assert all(float(number.replace(",", "")) > 100 for line in lines for number in line.split()[1:])
