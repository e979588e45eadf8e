"""Operations that arrange the same elements differently, or choose a regular part of them."""
