"""`torch.nn.attention.flex_attention`: attention whose scores and mask are functions of places.

The functions are called once, with places that broadcast to (batch, head, query, key), so they are
to be made of operations on tensors. The blocks of a mask are a table only: nothing is skipped.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.absent import finder
from minitorch.torch.functions.basic import as_tensor
from minitorch.torch.functions.joining import repeat_interleave

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

_DEFAULT_SPARSE_BLOCK_SIZE = 128

_Mod = Callable[..., Any]


class AuxRequest(NamedTuple):
    """What else `flex_attention` is to return."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The logarithms of the sums of exponentials of the scores, and the largest scores."""

    lse: Any = None
    max_scores: Any = None


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The mask that lets everything through."""
    everything: Tensor = batch.new_ones(size=(), dtype=_bool())
    return everything


def _bool() -> Any:
    from minitorch.torch.dtypes import bool_

    return bool_


def and_masks(*mask_mods: _Mod) -> _Mod:
    """The mask of what all of these let through."""
    return _joined(mask_mods, "ones", lambda x, y: x & y)


def or_masks(*mask_mods: _Mod) -> _Mod:
    """The mask of what any of these lets through."""
    return _joined(mask_mods, "zeros", lambda x, y: x | y)


def _joined(mask_mods: tuple[_Mod, ...], first: str, join: Callable[[Any, Any], Any]) -> _Mod:
    if not all(map(callable, mask_mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def joined(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Any:
        found = getattr(b, f"new_{first}")((), dtype=_bool())
        for each in mask_mods:
            found = join(found, each(b, h, q_idx, kv_idx))
        return found

    return joined


def _places(shape: tuple[int, int, int, int]) -> list[Any]:
    """Where each score is, in four tensors that broadcast to `shape`."""
    return [
        wrap(np.arange(size).reshape([-1 if d == each else 1 for d in range(4)]))
        for each, size in enumerate(shape)
    ]


def _takes(function: _Mod) -> int:
    """How many arguments must be given by place."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = inspect.signature(function).parameters.values()
    return sum(each.kind in kinds and each.default is each.empty for each in given)


def create_mask(
    mod_fn: _Mod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Any:
    """The mask (B, H, Q_LEN, KV_LEN) of a function of four places; of one that changes scores (it
    takes five arguments): what it does not make -inf. B and H are 1 if None."""
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    count = _takes(mod_fn)
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    places = _places(shape)
    if count == 4:
        found = mod_fn(*places)
    else:
        found = ~mod_fn(wrap(np.zeros(shape, np.float32)), *places).isneginf()
    return as_tensor(found).expand(shape).contiguous()


def create_block_mask(
    mask_mod: _Mod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """A mask with the table of the blocks that it lets something of, or all of, through.

    The last two arguments are of no effect: they arrange the work of a GPU.
    """
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    dense = create_mask(mask_mod, B, H, Q_LEN, KV_LEN)._array
    rows, columns = -(-Q_LEN // size[0]), -(-KV_LEN // size[1])
    whole = np.zeros((*dense.shape[:2], rows * size[0], columns * size[1]), bool)
    whole[..., :Q_LEN, :KV_LEN] = dense
    blocks = whole.reshape(*dense.shape[:2], rows, size[0], columns, size[1])
    count = blocks.sum((3, 5))
    full = count == size[0] * size[1]
    if not separate_full_blocks:
        return BlockMask._of((Q_LEN, KV_LEN), count > 0, None, size, mask_mod)
    return BlockMask._of((Q_LEN, KV_LEN), (count > 0) & ~full, full, size, mask_mod)


def _ordered(blocks: np.ndarray) -> tuple[Any, Any]:
    """How many blocks of each row are in, and all places of the row, those that are in first."""
    counts = blocks.sum(-1, dtype=np.int32)
    return wrap(counts), wrap(np.argsort(~blocks, -1, kind="stable").astype(np.int32))


def _dense(counts: Any, indices: Any) -> np.ndarray:
    """The blocks that are in, from the tables of `_ordered`."""
    places = indices._array
    taken = np.arange(places.shape[-1]) < counts._array[..., None]
    found = np.zeros(places.shape, bool)
    np.put_along_axis(found, places.astype(np.int64), taken, -1)
    return found


class BlockMask:
    """A mask of attention, and its blocks: for each row of blocks how many columns, and which.

    A block is in one of the tables `kv_*` (part of it is let through) and `full_kv_*` (all of it);
    `q_*` and `full_q_*` say the same by columns.
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any,
        full_kv_indices: Any,
        q_num_blocks: Any,
        q_indices: Any,
        full_q_num_blocks: Any,
        full_q_indices: Any,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: _Mod = noop_mask,
    ) -> None:
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def _of(
        cls,
        lengths: tuple[int, int],
        part: np.ndarray,
        full: np.ndarray | None,
        size: tuple[int, int],
        mask_mod: _Mod,
    ) -> BlockMask:
        tables: list[Any] = []
        for each in (part, full, part.swapaxes(-1, -2), full):
            if each is None:
                tables += (None, None)
            else:
                tables += _ordered(each if len(tables) < 6 else each.swapaxes(-1, -2))
        made = cls(lengths, *tables)
        made.BLOCK_SIZE, made.mask_mod = size, mask_mod
        return made

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any = None,
        full_kv_indices: Any = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: _Mod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """A mask of these tables by rows; `seq_lengths`: those of whole blocks by default."""
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        rows, columns = kv_indices.shape[-2:]
        made = cls._of(
            seq_lengths or (rows * size[0], columns * size[1]),
            _dense(kv_num_blocks, kv_indices),
            None if full_kv_num_blocks is None else _dense(full_kv_num_blocks, full_kv_indices),
            size,
            mask_mod or noop_mask,
        )
        made.kv_num_blocks, made.kv_indices = kv_num_blocks, kv_indices
        made.full_kv_num_blocks, made.full_kv_indices = full_kv_num_blocks, full_kv_indices
        if not compute_q_blocks:
            made.q_num_blocks = made.q_indices = None
            made.full_q_num_blocks = made.full_q_indices = None
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """(batch, heads, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many scores there are."""
        return int(np.prod(self.shape))

    def to_dense(self) -> Any:
        """1 for each block that something of is let through: int32."""
        found = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None:
            found = found | _dense(self.full_kv_num_blocks, self.full_kv_indices)
        return wrap(found.astype(np.int32))

    def sparsity(self) -> float:
        """How many of a hundred scores are in blocks that nothing of is let through."""
        count = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            count += int(self.full_kv_num_blocks.sum())
        return 100 * (1 - count * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to(self, device: Any) -> BlockMask:
        """The mask on a device: itself, on the CPU."""
        self.kv_num_blocks.to(device)
        return self

    def __repr__(self) -> str:
        tables = (
            *("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices"),
            *("q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices"),
        )
        shown = [
            f"{name}={None if table is None else table.shape}"
            for name, table in ((name, getattr(self, name)) for name in tables)
        ]
        shown += [f"BLOCK_SIZE={self.BLOCK_SIZE}", f"shape={self.shape}"]
        shown += [f"sparsity={self.sparsity():.2f}%"]
        name = getattr(self.mask_mod, "__name__", None)
        shown += [f"mask_mod={self.mask_mod if name is None else name}"]
        return "BlockMask(\n    " + ",\n    ".join(shown) + "\n)"


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: _Mod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query @ key.T * scale)) @ value, over the keys that the mask lets through.

    score_mod   of a score, and the numbers of its batch, head, query and key: the score to take
    enable_gqa  fewer heads of keys than of queries: each serves several
    return_lse, return_aux  a pair with what else is asked for
    The rows that look at nothing are 0. ValueError for shapes that do not fit.
    """
    _check(query, key, value, block_mask, enable_gqa)
    if enable_gqa:
        times = query.shape[1] // key.shape[1]
        key, value = (repeat_interleave(each, times, 1) for each in (key, value))
    scores = query @ key.transpose(-2, -1)
    if query._array.dtype == np.float16:
        scores = scores.float()
    scores = scores * (query.shape[-1] ** -0.5 if scale is None else scale)
    places = _places(scores.shape)
    if score_mod is not None:
        scores = as_tensor(score_mod(scores, *places)).expand(scores.shape)
    if block_mask is not None:
        scores = scores.masked_fill(~as_tensor(block_mask.mask_mod(*places)), -np.inf)
    highest = scores.max(-1, keepdim=True).values.detach()
    highest = highest.masked_fill(highest.isneginf(), 0.0)
    weights = (scores - highest).exp()
    total = weights.sum(-1, keepdim=True)
    nothing = total == 0
    out = (weights / total.masked_fill(nothing, 1.0)).to(query.dtype) @ value
    if not return_lse and return_aux is None:
        return out
    lse = (total.log() + highest).squeeze(-1)
    if return_aux is None:
        return out, lse
    most = scores.max(-1).values if return_aux.max_scores else None
    return out, AuxOutput(lse if return_aux.lse else None, most)


def _check(q: Tensor, k: Tensor, v: Tensor, mask: BlockMask | None, grouped: bool) -> None:
    if not q.ndim == k.ndim == v.ndim == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if not q.dtype == k.dtype == v.dtype:
        raise ValueError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{q.dtype}, key.dtype: {k.dtype}, and value.dtype: {v.dtype} instead."
        )
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={q.shape[-1]} and E={k.shape[-1]}."
        )
    if grouped:
        if q.shape[1] % k.shape[1]:
            raise ValueError(
                "Expect number of query heads to be a multiple of kv heads for GQA but got "
                f"Hq={q.shape[1]} and Hkv={k.shape[1]}."
            )
    elif q.shape[1] != k.shape[1]:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got "
            f"Hq={q.shape[1]} and Hkv={k.shape[1]}. Try setting enable_gqa=True for GQA."
        )
    if mask is None:
        return
    for place, (have, name) in enumerate(((q.shape[0], "batch"), (q.shape[1], "heads"))):
        if mask.shape[place] not in (1, have):
            raise ValueError(
                f"the block_mask was made for {mask.shape[place]} {name}, not for {have}"
            )
    for place, have, name in ((-2, q.shape[-2], "queries"), (-1, k.shape[-2], "keys")):
        if mask.shape[place] != have:
            raise ValueError(
                f"block_mask was created for block_mask.shape={mask.shape} but there are {have} "
                f"{name}. As the block mask was created for another length, create one for this."
            )


__getattr__ = finder(__name__)
