"""Assistants and humans by name (design: agents are Protocols)."""

from iwkit_runtime.agents.base import Assistant, Human
from iwkit_runtime.agents.registry import make_assistant, make_human

__all__ = ["Assistant", "Human", "make_assistant", "make_human"]
