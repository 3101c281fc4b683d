"""Figures as pure functions of what is on record (MET-1 to MET-3, MET-7, MET-9)."""
