"""`torch._dynamo.config`: attributes can be set, and have no effect."""

suppress_errors = verbose = False
cache_size_limit = recompile_limit = 8
