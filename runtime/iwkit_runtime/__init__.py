"""The closed loop: episode stepper, views, agents, runs (EVAL)."""
