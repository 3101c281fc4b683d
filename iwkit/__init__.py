"""iwkit: author, check, freeze and run tasks that tell whether an AI assistant really helped a person."""

__version__ = "0.1.0"
