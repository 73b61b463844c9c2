"""Studies: games x methods x seeds, trained and evaluated by one command that can be killed and run again."""
