"""`python -m brdiv` is the command `brdiv`."""

from brdiv.commands import main

main()
