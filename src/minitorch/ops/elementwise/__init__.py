"""Operations element by element: arithmetic, functions, comparisons, rounding, activations."""
