"""The magics: each parses its line, calls one function of the layers below, and renders the result."""

from mewcode_magic.magics.extension import load, unload

__all__ = ["load", "unload"]
