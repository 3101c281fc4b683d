"""The command line. It may import everything, and nothing imports it."""
