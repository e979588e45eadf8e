"""Sequences of several lengths: packed, one step after the other without padding, or padded.

Of sequences that are sorted by length, the longest first, the packed form has the first elements of
all, then the second elements of those that have one, and so on; `batch_sizes` says how many each
step has. Between the two forms lies one mask: (steps, count), true where there is an element.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import device
from minitorch.torch.face import recorder
from minitorch.torch.functions.joining import cat

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

_pack = recorder("getitem", "PackPaddedSequenceBackward0")
_place = recorder("put_add")
_add = recorder("add")

_UNSORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
    "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
    "requirement if you do not need ONNX exportability."
)


class PackedSequence_(NamedTuple):
    """The parts of a `PackedSequence`."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(PackedSequence_):
    """Sequences of several lengths, packed; made by `pack_padded_sequence` and `pack_sequence`.

    data              (elements, ...), those of all steps one after the other
    batch_sizes       how many sequences each step has: int64
    sorted_indices    the order of the sequences by length, and
    unsorted_indices  the way back; both None if they came sorted
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> Self:
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With `data` in another dtype or on another device; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, *self[1:])

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Itself."""
        return self.to(*args, device=device("cpu"), **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """RuntimeError or AssertionError: there is no such device."""
        return type(self)(self.data.cuda(*args, **kwargs), *self[1:])

    def pin_memory(self) -> PackedSequence:
        """As `Tensor.pin_memory`."""
        return type(self)(self.data.pin_memory(), *self[1:])

    def double(self) -> PackedSequence:
        """In float64."""
        return type(self)(self.data.double(), *self[1:])

    def float(self) -> PackedSequence:
        """In float32."""
        return type(self)(self.data.float(), *self[1:])

    def half(self) -> PackedSequence:
        """In float16."""
        return type(self)(self.data.half(), *self[1:])

    def long(self) -> PackedSequence:
        """In int64."""
        return type(self)(self.data.long(), *self[1:])

    def int(self) -> PackedSequence:
        """In int32."""
        return type(self)(self.data.int(), *self[1:])

    def short(self) -> PackedSequence:
        """In int16."""
        return type(self)(self.data.short(), *self[1:])

    def char(self) -> PackedSequence:
        """In int8."""
        return type(self)(self.data.char(), *self[1:])

    def byte(self) -> PackedSequence:
        """In uint8."""
        return type(self)(self.data.byte(), *self[1:])

    @property
    def is_cuda(self) -> bool:
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        return bool(self.data.is_pinned())


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes another; None for None."""
    if permutation is None:
        return None
    order = permutation._array
    found = np.empty_like(order)
    found[order] = np.arange(order.size, dtype=order.dtype)
    return wrap(found)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """A padded batch, packed.

    input           (steps, count, ...), (count, steps, ...) if `batch_first`
    lengths         of each sequence, a tensor or a list
    enforce_sorted  the sequences come longest first; False: they are sorted here
    RuntimeError for lengths that are not sorted, not positive, or too large.
    """
    given = np.asarray(lengths._array if isinstance(lengths, Tensor) else lengths).astype(np.int64)
    order = None
    if not enforce_sorted:
        order = np.argsort(-given, kind="stable")
        given = given[order]
        input = input.index_select(0 if batch_first else 1, wrap(order))
    if batch_first:
        input = input.transpose(0, 1)
    steps, count = input._array.shape[:2]
    if not input._array.size:
        raise ShapeError("Cannot pack empty tensors.")
    if given.shape != (count,):
        raise ShapeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {given.size} "
            f"(batch_size={count})"
        )
    if given[-1] <= 0:
        raise ShapeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (given[1:] > given[:-1]).any():
        raise ShapeError(_UNSORTED)
    if given[0] > steps:
        raise ShapeError(
            f"pack_padded_sequence: a length is {given[0]}, but the input has {steps} steps"
        )
    there = np.arange(given[0])[:, None] < given
    data = _pack(input if given[0] == steps else input[: int(given[0])], index=there)
    return PackedSequence(data, wrap(there.sum(1)), None if order is None else wrap(order), None)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """The padded batch behind a packed one, and the lengths of its sequences (int64).

    total_length  how many steps the result has, at least; ValueError if there are more
    """
    sizes = sequence.batch_sizes._array
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, "
                f"but got total_length={total_length} and max sequence length being {steps}"
            )
        sizes = np.concatenate([sizes, np.zeros(total_length - steps, sizes.dtype)])
    there = np.arange(sizes[0]) < sizes[:, None]
    lengths = wrap(there.sum(0))
    shape = (*there.shape, *sequence.data._array.shape[1:])
    padded = _place(sequence.data, index=there, shape=shape, unique=True)
    padded = _padded(padded, there, padding_value)
    if batch_first:
        padded = padded.transpose(0, 1)
    back = sequence.unsorted_indices
    if back is not None:
        return padded.index_select(0 if batch_first else 1, back), lengths[back]
    return padded, lengths


def _padded(t: Any, there: Any, value: Any) -> Any:
    """With a value in the place of the zeros outside of the mask."""
    if value == 0:
        return t
    fill = np.where(there, 0, value).astype(t._array.dtype)
    return _add(t, wrap(fill.reshape(*there.shape, *(1,) * (t._array.ndim - 2))))


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:
    """Sequences (length, ...) in one tensor: (steps, count, ...), or count first, filled up to the
    longest with a value at their end, or on the left.

    RuntimeError for no sequences, or ones that differ in more than their lengths.
    """
    if not isinstance(sequences, (Tensor, Iterable)):
        raise ShapeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    every = sequences.unbind(0) if isinstance(sequences, Tensor) else tuple(sequences)
    if not every:
        raise ShapeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise ShapeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    rest = every[0]._array.shape[1:]
    for each in every:
        if each._array.shape[1:] != rest:
            raise ShapeError(
                "pad_sequence: sequences differ in more than their lengths: "
                f"{list(every[0]._array.shape)} and {list(each._array.shape)}"
            )
    lengths = np.array([len(each._array) for each in every])
    steps = int(lengths.max())
    which = np.repeat(np.arange(len(every)), lengths)
    step = np.concatenate([np.arange(length) for length in lengths])
    if padding_side == "left":
        step = step + (steps - lengths)[which]
    index = (which, step) if batch_first else (step, which)
    sizes = (len(every), steps) if batch_first else (steps, len(every))
    padded = _place(cat(every), index=index, shape=(*sizes, *rest), unique=True)
    there = np.zeros(sizes, np.bool_)
    there[index] = True
    return _padded(padded, there, padding_value)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences in a padded batch, without the padding."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [
        sequence[:length]
        for sequence, length in zip(padded_sequences, lengths.tolist(), strict=True)
    ]


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (length, ...) packed; sorted here if not `enforce_sorted`."""
    lengths = wrap(np.array([len(each._array) for each in sequences], np.int64))
    return pack_padded_sequence(pad_sequence(sequences), lengths, False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences in a packed batch, in the order in which they were given."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))
