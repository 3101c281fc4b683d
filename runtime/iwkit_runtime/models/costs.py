"""What calls cost: exactly where that is known, at most where it is not, and a budget that is never passed."""

from __future__ import annotations

from typing import Final

from iwkit.errors import RunStopped
from iwkit_runtime.models.settings import ModelSpec, Price
from iwkit_runtime.models.wire import Prompt, Tokens

_MILLION: Final = 1_000_000
_OVERHEAD: Final = 16
"""Tokens that a provider may add for a message's frame."""


def most_tokens(prompt: Prompt, spec: ModelSpec) -> int:
    """The most input tokens that a prompt can count as."""
    return prompt.text_bytes + len(prompt.images) * spec.limits.tokens + _OVERHEAD * (len(prompt.messages) + 1)


def cost(tokens: Tokens, price: Price | None) -> float | None:
    """US dollars, or None if anything that goes into it is unknown: the price, a count, the price of cached input, or
    that of a request longer than the price holds for."""
    if price is None or tokens.input is None or tokens.output is None:
        return None
    if price.up_to is not None and tokens.input > price.up_to:
        return None
    cached = tokens.cached or 0
    if cached and price.cached is None:
        return None
    fresh = max(0, tokens.input - cached)
    return (fresh * price.input + cached * (price.cached or 0.0) + tokens.output * price.output) / _MILLION


def most(prompt: Prompt, spec: ModelSpec) -> float | None:
    """The most that a prompt and its answer can cost, or None if no price is known for them."""
    price = spec.price
    if price is None:
        return None
    given = most_tokens(prompt, spec)
    if price.up_to is not None and given > price.up_to:
        return None
    # No provider asks more for input that it had in its cache than for other input.
    return (given * max(price.input, price.cached or 0.0) + spec.settings.max_output_tokens * price.output) / _MILLION


class Budget:
    """Money for a run. Every call sets the most that it can cost aside before it is sent. What it did cost takes the
    place of that once it is known; what stays unknown stays set aside.

    Args:
        dollars: the most that may be spent; None is no limit.
        spent: what earlier calls of the run cost at most.
    """

    def __init__(self, dollars: float | None, spent: float = 0.0) -> None:
        self._dollars = dollars
        self.spent = spent
        """US dollars, unknown costs at their most."""

    def set_aside(self, name: str, dollars: float | None) -> None:
        """Set the most that a call can cost aside.

        Raises:
            RunStopped: with it, more than the budget could be spent, or nobody knows.
        """
        if self._dollars is None:
            return
        if dollars is None:
            raise RunStopped(
                f"the budget cannot be kept: it is unknown what this call to {name} can cost; "
                "give its price in a models file, or leave --budget out"
            )
        if self.spent + dollars > self._dollars:
            raise RunStopped(
                f"stopped before the budget of ${self._dollars:.2f} is passed: at most ${self.spent:.4f} is spent, "
                f"and the next call to {name} can cost ${dollars:.4f}; with a larger --budget the same command goes on"
            )
        self.spent += dollars

    def settle(self, set_aside: float | None, actual: float | None) -> None:
        """Put what a call did cost in the place of what was set aside for it. None: unknown."""
        if self._dollars is not None and set_aside is not None and actual is not None:
            self.spent += actual - set_aside
