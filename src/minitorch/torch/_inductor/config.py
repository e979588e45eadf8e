"""`torch._inductor.config`: attributes can be set, and have no effect."""

coordinate_descent_tuning = fx_graph_cache = False
