"""`python -m brdiv` is the command `brdiv`."""

from brdiv.cli import main

main()
