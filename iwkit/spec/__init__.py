"""The schema: packs, goals, scenes, catalogue, families and the lock, as pydantic models."""
