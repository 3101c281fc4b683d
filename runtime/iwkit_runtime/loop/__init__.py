"""The closed loop as a stepper without input or output of its own (design: sans-IO)."""
