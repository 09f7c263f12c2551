"""What `%load_ext mewcode` imports; the build maps this file to the module `mewcode`."""

from mewcode_magic import load_ipython_extension, unload_ipython_extension

__all__ = ["load_ipython_extension", "unload_ipython_extension"]
