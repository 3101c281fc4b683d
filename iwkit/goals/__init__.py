"""The goal language: syntax, checking and evaluation over a trace (docs/goal-language.md)."""
