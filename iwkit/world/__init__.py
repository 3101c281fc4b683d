"""Worlds: the contract every one fulfils, and the symbolic one."""
