"""`torch.utils.model_zoo`: nothing is fetched from the network."""

from minitorch.torch.hub import load_state_dict_from_url, tqdm

__all__ = ["load_url", "tqdm"]

load_url = load_state_dict_from_url
