"""PyTorch's CPU generator: the same bits for the same seed, and the same numbers made of them.

Underneath is MT19937 (Matsumoto & Nishimura 1998), seeded as its authors' `init_genrand` does:
NumPy has both. What PyTorch makes of the 32-bit words was found by comparing: 24 low bits for a
float32 and 53 for a float64, Box-Muller in blocks of 16 for many normal numbers and one pair after
the other for few. `tests/torch_face/test_torch_random.py` holds it to that.
"""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from minitorch.torch import box_muller
from minitorch.torch._tensor import wrap
from minitorch.torch.dtypes import device as device_of

DEFAULT_SEED = 67280421310721
_STATE = struct.Struct("<Qiiq4992s3di4xf?3x")
"""A state as PyTorch lays it out: seed, words left, whether seeded, next word, 624 words, what a
normal distribution kept (x, y, rho, whether there is one), and the same for float32."""


class _Unseeded(ISeedSequence):
    """In the place of a seed, for what is seeded right afterwards: NumPy asks the system for one
    and mixes 624 words of it, which takes as long as a thousand random numbers."""

    _words = np.zeros(624, np.uint32)

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """Zeros."""
        return self._words


_UNSEEDED: Any = _Unseeded()


class Generator:
    """A source of random numbers with a seed and a state of its own; equal to PyTorch's."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device = device_of(device)
        self._bits: Any = np.random.MT19937(_UNSEEDED)
        self._numpy = np.random.Generator(self._bits)
        self.manual_seed(DEFAULT_SEED)

    # ------------------------------------------------------------------------------ the state

    def manual_seed(self, seed: int) -> Generator:
        """Begin anew from `seed`, an integer of 64 bits; gives the generator itself.

        ValueError for a seed that 64 bits cannot hold.
        """
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError(
                f"Overflow when unpacking long long: manual_seed({seed}) needs a seed of 64 bits"
            )
        self._seed = seed % (1 << 64)
        self._bits._legacy_seeding(self._seed & 0xFFFFFFFF)
        self._spare: float | None = None
        return self

    def seed(self) -> int:
        """Begin anew from a seed that the system gives, and tell it."""
        fresh = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self.manual_seed(fresh)
        return fresh

    def initial_seed(self) -> int:
        """The seed it began from."""
        return self._seed

    def get_state(self) -> Any:
        """Where it stands: a uint8 tensor of 5056 bytes, in PyTorch's own layout."""
        state = self._bits.state["state"]
        place = int(state["pos"])
        fresh = place == len(state["key"])  # the next word needs 624 new ones
        words = np.asarray(state["key"], np.uint64).tobytes()
        spare = self._spare
        packed = _STATE.pack(
            *(self._seed, 1 if fresh else 625 - place, 1, 0 if fresh else place, words),
            *(0.0, spare or 0.0, 0.0, spare is not None, 0.0, False),
        )
        return wrap(np.frombuffer(packed, np.uint8).copy())

    def set_state(self, new_state: Any) -> Generator:
        """Go on from where `get_state` was called, here or in PyTorch.

        TypeError for what is not a uint8 tensor, RuntimeError for one of another size.
        """
        array = getattr(new_state, "_array", None)
        if array is None or array.dtype != np.uint8:
            raise TypeError("expected a torch.ByteTensor: RNG state must come from get_state()")
        if array.size != _STATE.size:
            raise RuntimeError(
                f"RNG state is wrong size: expected {_STATE.size} bytes, got {array.size}; it must "
                "come from get_state()"
            )
        seed, left, _, place, words, _, spare, _, kept, _, _ = _STATE.unpack(array.tobytes())
        bits: Any = np.random.MT19937(_UNSEEDED)
        key = np.frombuffer(words, np.uint64).astype(np.uint32)
        place = len(key) if left == 1 else place
        bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": place}}
        self._seed, self._bits, self._spare = seed, bits, spare if kept else None
        self._numpy = np.random.Generator(bits)
        return self

    def clone_state(self) -> Generator:
        """Another generator that stands where this one does."""
        return Generator().set_state(self.get_state())

    def __reduce__(self) -> Any:
        return _restored, (self.get_state(),)

    def __repr__(self) -> str:
        return f"<torch.Generator of {self.device}>"

    # ------------------------------------------------------------------------------- the bits

    def words(self, count: int) -> np.ndarray:
        """`count` words of 32 bits: uint32."""
        return self._numpy.integers(0, 1 << 32, count, np.uint32)

    def long_words(self, count: int) -> np.ndarray:
        """`count` words of 64 bits, of two of 32 each, the high one first: uint64."""
        pairs: np.ndarray = self.words(2 * count).view("<u8")
        high = pairs << np.uint64(32)
        pairs >>= np.uint64(32)
        pairs |= high
        return pairs

    def integers(self, low: int, high: int, count: int) -> np.ndarray:
        """Integers from `low` to before `high`, by the remainder of a word: int64."""
        span = high - low
        if span < 1 << 32:
            return (self.words(count) % np.uint32(span)).astype(np.int64) + low
        found = self.long_words(count)
        if span < 1 << 64:
            found = found % np.uint64(span)
        return found.astype(np.int64) + low  # beyond 2**63 it wraps round, as in PyTorch

    def single(self, count: int) -> np.ndarray:
        """float32 from [0, 1), of 24 bits each."""
        low = self.words(count)
        low &= np.uint32(0xFFFFFF)
        found = low.astype(np.float32)
        found *= np.float32(2.0**-24)
        return found

    def double(self, count: int) -> np.ndarray:
        """float64 from [0, 1), of 53 bits each."""
        low = self.long_words(count)
        low &= np.uint64((1 << 53) - 1)
        found = low.astype(np.float64)
        found *= 2.0**-53
        return np.asarray(found)

    # -------------------------------------------------------------------------- distributions

    def uniform(self, count: int, dtype: Any, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """From [low, high); float16 is computed in float32. Complex: both parts from there."""
        if np.dtype(dtype).kind == "c":
            return self.uniform(2 * count, _part(dtype), low, high).view(dtype)
        wide = np.float64 if dtype == np.float64 else np.float32
        found = self.double(count) if wide is np.float64 else self.single(count)
        if low == 0 and high == 1:
            if wide == dtype:
                return found
        else:
            # The span is that of float32 numbers, the rest is rounded once, as a multiply-add is.
            span = np.float64(wide(high) - wide(low))
            start = np.float64(wide(low))
            for place in range(0, count, _CHUNK):
                part = found[place : place + _CHUNK]
                if wide is np.float64:
                    part[...] = _fma_double(part, float(span), float(start))
                else:
                    moved = part * span
                    moved += start
                    np.copyto(part, moved, casting="same_kind")
        found = found.astype(dtype, copy=False)
        # What was rounded up to the bound, which does not belong to the range.
        found[found == np.asarray(high, dtype)] = low
        return found

    def few_normal(self, count: int) -> np.ndarray:
        """Of the normal distribution, one pair after the other by Box and Muller: float64.

        The second of a pair is kept for the next call.
        """
        found = np.empty(count)
        start = 0
        if self._spare is not None and count:
            found[0], self._spare, start = self._spare, None, 1
        pairs = (count - start + 1) // 2
        drawn = self.double(2 * pairs).reshape(-1, 2)
        both = np.empty((pairs, 2))
        radius = np.sqrt(-2 * np.log1p(-drawn[:, 1]))
        angle = 2 * math.pi * drawn[:, 0]
        both[:, 0] = radius * np.cos(angle)
        both[:, 1] = radius * np.sin(angle)
        flat = both.reshape(-1)
        found[start:] = flat[: count - start]
        if len(flat) > count - start:
            self._spare = float(flat[-1])
        return found

    def many_normal(self, count: int, dtype: Any, mean: float, std: float) -> np.ndarray:
        """Of the normal distribution, in blocks of 16: for at least 16 of them.

        What does not fill the last block is drawn again, together with the end of the one before.
        """
        uniform = self.double if dtype == np.float64 else self.single
        whole = count // 16 * 16
        drawn = uniform(count)
        found = np.empty(count, dtype)
        found[:whole] = box_muller.normal(drawn[:whole], mean, std)
        if whole < count:
            found[-16:] = box_muller.normal(uniform(16), mean, std)
        return found

    def normal(
        self, count: int, dtype: Any, mean: float = 0.0, std: float = 1.0, dense: bool = True
    ) -> np.ndarray:
        """Of the normal distribution. `dense`: for memory without gaps, in order.

        Complex numbers have parts of half the variance, and both of this mean.
        """
        if np.dtype(dtype).kind == "c":
            return self.normal(2 * count, _part(dtype), mean, std / math.sqrt(2), dense).view(dtype)
        if dense and count >= 16:
            return self.many_normal(count, dtype, mean, std)
        return (self.few_normal(count) * std + mean).astype(dtype)

    def exponential(self, count: int, rate: float = 1.0) -> np.ndarray:
        """Of the exponential distribution: float64."""
        return np.asarray(-np.log1p(-self.double(count)) / rate)

    def chances(self, p: Any, count: int) -> np.ndarray:
        """True with probability `p`: a number, or one for each as a flat array of floats.

        A number is compared with 53 bits, float32 with 24.
        """
        if isinstance(p, np.ndarray) and p.ndim:
            return self.uniform(count, p.dtype if p.dtype == np.float64 else np.float32) < p
        return self.double(count) < float(p)

    def permutation(self, count: int) -> np.ndarray:
        """The integers from 0 to count - 1, by Fisher and Yates: int64."""
        order = list(range(count))
        left = np.arange(count, 1, -1, dtype=np.uint32)
        for place, step in enumerate((self.words(max(count - 1, 0)) % left).tolist()):
            order[place], order[place + step] = order[place + step], order[place]
        return np.array(order, np.int64)

    @contextlib.contextmanager
    def one_by_one(self) -> Iterator[Callable[[], float]]:
        """A function that gives the next number of `double`, for a block.

        They are drawn many at a time; at the end the generator stands behind the last one taken.
        """
        start = self._bits.state
        left: list[float] = []
        drawn = 0

        def take() -> float:
            nonlocal left, drawn
            if not left:
                count = min(32 + drawn, 4096)
                left = self.double(count).tolist()[::-1]
                drawn += count
            return left.pop()

        try:
            yield take
        finally:
            if left:
                self._bits.state = start
                self.words(2 * (drawn - len(left)))

    def _normal_of(self, take: Callable[[], float]) -> float:
        """`few_normal(1)` of numbers taken one by one."""
        if self._spare is not None:
            found, self._spare = self._spare, None
            return found
        angle = 2 * math.pi * take()
        radius = math.sqrt(-2 * math.log1p(-take()))
        self._spare = radius * math.sin(angle)
        return radius * math.cos(angle)

    def poisson(self, rates: np.ndarray) -> np.ndarray:
        """Of the Poisson distribution of each of these rates: float64.

        Products of uniform numbers for rates below 10, else transformed rejection (Hörmann 1993).
        """
        with self.one_by_one() as take:
            return np.array([_poisson(rate, take) for rate in rates.tolist()], np.float64)

    def gamma(self, shapes: np.ndarray) -> np.ndarray:
        """Of the gamma distribution of each of these shapes and rate 1: float64.

        Rejection by a cubed normal number (Marsaglia & Tsang 2000). What is made of a shape alone
        is rounded to the dtype of `shapes`.
        """
        kind = np.float64 if shapes.dtype == np.float64 else np.float32
        with self.one_by_one() as take:
            return np.array([self._gamma(a, kind, take) for a in shapes.tolist()], np.float64)

    def _gamma(self, alpha: float, kind: Any, take: Callable[[], float]) -> float:
        scale = 1.0
        if alpha < 1:
            if alpha == 0:
                return 0.0
            scale = math.pow(1 - take(), float(kind(1) / kind(alpha)))
            alpha = float(kind(alpha) + kind(1))
        d = float(kind(alpha) - np.float32(1 / 3))  # a third in single precision, always
        c = 1 / math.sqrt(9 * d)
        while True:
            x = self._normal_of(take)
            y = 1 + c * x
            if y <= 0:
                continue
            v, u, xx = y * y * y, 1 - take(), x * x
            if u < 1 - 0.0331 * xx * xx or math.log(u) < 0.5 * xx + d * (1 - v + math.log(v)):
                return scale * d * v


def _poisson(rate: float, take: Callable[[], float]) -> float:
    if rate >= 10:
        return _large_poisson(rate, take)
    if rate == 0:
        return 0
    bound, product, found = math.exp(-rate), 1.0, 0
    while True:
        product *= take()
        if product <= bound:
            return found
        found += 1


def _large_poisson(rate: float, take: Callable[[], float]) -> float:
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = take() - 0.5, take()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        left = math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b)
        if left <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return k


def _part(dtype: Any) -> np.dtype[Any]:
    """The dtype of a complex number's parts."""
    return np.empty(0, dtype).real.dtype


def _restored(state: Any) -> Generator:
    return Generator().set_state(state)


_CHUNK = 1 << 13
"""Numbers at a time: what is computed on the way stays in the cache."""


def _fma_double(a: np.ndarray, b: float, c: float) -> np.ndarray:
    """a * b + c in float64, rounded once: with the errors of product and sum, which Dekker's and
    Knuth's methods give exactly."""
    if not math.isfinite(b * 2.0**27):
        return a * b + c
    product = a * b
    high, low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((high * b_high - product) + high * b_low + low * b_high) + low * b_low
    total = product + c
    back = total - product
    error += (product - (total - back)) + (c - back)
    return np.asarray(total + error)


def _halves(x: Any) -> tuple[Any, Any]:
    """A number as a sum of two with half its bits each."""
    shifted = x * 134217729.0
    high = shifted - (shifted - x)
    return high, x - high


default_generator = Generator()
default_generator.seed()
