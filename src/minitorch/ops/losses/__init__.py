"""Losses: several steps of a formula in one operation."""
