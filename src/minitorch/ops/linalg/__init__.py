"""Products, factorisations, solvers, distances."""
