"""`torch.utils.deterministic`: a switch that is kept."""

fill_uninitialized_memory = True
