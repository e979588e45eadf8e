"""Operations that make fewer elements of many: sums, extremes, norms, statistics, normalisation."""
