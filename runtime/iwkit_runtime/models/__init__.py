"""Models behind the boundary: how a view becomes a prompt, how a prompt is asked, and what it cost (docs/models.md).

A provider's client is imported with the first of its models that is asked, and not before.
"""
