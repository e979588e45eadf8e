"""`torch.__future__`: how `Module.to` and its like put converted parameters in their place."""

from __future__ import annotations

_asked = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether converted parameters are new ones, and not the old ones with other data."""
    _asked["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether converted parameters are new ones."""
    return _asked["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether what was converted is exchanged with the parameter, which stays the same object.

    It stays so here in any case, unless `set_overwrite_module_params_on_conversion` asks for
    new ones; then this comes first.
    """
    _asked["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """What was set last; False to begin with."""
    return _asked["swap"]
