"""Proof from the trajectory alone that nobody cheated; shares no code with what planned and filmed it (design 5)."""
