"""Tests. Threads wait as they do in the commands, which must be said before torch is imported."""

from brdiv.commands.line.cores import wait_passively

wait_passively()
