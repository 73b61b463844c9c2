"""How functions become commands, and the command line of training."""
