"""Proving a TaskPack sound and freezing it (BENCH-5, BENCH-7)."""
