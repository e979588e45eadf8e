"""Why a call of tier core is more than three times as slow as PyTorch's at some size."""

from __future__ import annotations

REASONS: dict[str, str] = {}
