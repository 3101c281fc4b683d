"""Spoken English by rules: words, clauses and noun phrases. It knows no task, no scene and no catalogue."""
