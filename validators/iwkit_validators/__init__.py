"""Deterministic checks of a TaskPack (BENCH-4)."""
