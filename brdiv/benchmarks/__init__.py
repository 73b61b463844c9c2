"""How fast it is, measured here and now."""
