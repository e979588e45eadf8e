"""torch.utils.data: the same batches, messages and random numbers after them as PyTorch's."""

from __future__ import annotations

import collections
import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt
from minitorch.torch.utils.data._utils.errors import ExceptionWrapper
from minitorch.torch.utils.data._utils.worker import seed_everything

LIBRARIES = (torch, mt)

COMMON = """
import collections, random
import numpy as np
D = torch.utils.data

class Squares(D.Dataset):
    def __init__(self, n=10): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i): return torch.full((2, 3), float(i * i)), i, str(i)

class Many(Squares):
    def __getitems__(self, places): return [(i, -i) for i in places]

class Count(D.IterableDataset):
    def __init__(self, n=7): self.n = n
    def __iter__(self):
        info = D.get_worker_info()
        step = 1 if info is None else info.num_workers
        return iter(range(0 if info is None else info.id, self.n, step))

class Sized(Count):
    def __len__(self): return 3

class Seeds(D.Dataset):
    def __len__(self): return 8
    def __getitem__(self, i):
        info = D.get_worker_info()
        return (torch.initial_seed(), torch.rand(2), random.random(), np.random.rand(),
                info.id, info.num_workers, info.seed)

class Eager:
    def __init__(self): self.passes = []
    def __len__(self): return 3
    def __iter__(self):
        self.passes.append(len(self.passes))
        return iter(torch.randperm(6).view(3, 2).tolist())

Point = collections.namedtuple("Point", "x y")
X, Y = torch.arange(20.0).view(10, 2), torch.arange(10)
data = D.TensorDataset(X, Y)
"""


def plain(value: Any) -> Any:
    """Tensors, arrays and the classes around them as what can be compared."""
    if hasattr(value, "grad_fn"):
        return (tuple(value.shape), str(value.dtype), value.tolist())
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, collections.UserList)):
        return type(value).__name__, [plain(each) for each in value]
    return value


def outcome(library: Any, code: str) -> Any:
    """The value of a program's last line, or its error, warnings, and what is drawn next."""
    names: dict[str, Any] = {"torch": library, "__name__": __name__}
    exec(COMMON, names)
    *before, last = code.strip().split("\n")
    library.manual_seed(5)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            exec("\n".join(before), names)
            found = plain(eval(last, names))
        except Exception as error:
            base = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
            if isinstance(error, RuntimeError):
                base = RuntimeError
            found = base, str(error)
    notes = [(w.category, str(w.message).split(" object at")[0]) for w in seen]
    names.clear()  # workers that live on are ended now
    return found, notes, library.rand(3).tolist()


PROGRAMS = """
list(D.DataLoader(data, batch_size=3))
list(D.DataLoader(data, batch_size=3, shuffle=True))
list(D.DataLoader(data, 4, True, drop_last=True))
[list(D.DataLoader(data, 4, True)) for _ in range(3)]
loader = D.DataLoader(data, 4, True); [len(loader), list(loader), torch.rand(2), list(loader)]
next(iter(D.DataLoader(data, 4, True)))
[i for i, batch in zip(range(2), D.DataLoader(data, 4, True))]
list(D.DataLoader(data, 4, True, generator=torch.Generator().manual_seed(3)))
list(D.DataLoader(data, batch_size=None))
list(D.DataLoader(data, sampler=[3, 1, 4], batch_size=2))
list(D.DataLoader(data, sampler=[-1, 0], batch_size=2))
list(D.DataLoader(data, sampler=[10], batch_size=2))
list(D.DataLoader(data, sampler=torch.tensor([3, 1, 4]), batch_size=2))
list(D.DataLoader(data, sampler=np.array([3, 1, 4]), batch_size=2))
list(D.DataLoader(data, batch_sampler=[[1, 2, 3], [0]]))
list(D.DataLoader(data, batch_sampler=D.BatchSampler(D.RandomSampler(data), 3, True)))
list(D.DataLoader(D.TensorDataset(X.t(), X.t()), 2, True))
list(D.DataLoader(D.Subset(data, [7, 8, 2]), 2, True))
list(D.DataLoader(D.Subset(data, [7, 8, 20]), 3))
list(D.DataLoader(D.Subset(D.Subset(data, [7, 8, 2]), [2, 1]), 2))
list(D.DataLoader(D.TensorDataset(X.clone().requires_grad_(), Y), 4))
list(D.DataLoader(Squares(), 4, True))
list(D.DataLoader(Many(), 4, True))
list(D.DataLoader(D.Subset(Many(), [5, 6]), 4))
list(D.DataLoader(Squares(5), 2, collate_fn=lambda rows: sum(row[1] for row in rows)))
list(D.DataLoader(Count(), 3))
list(D.DataLoader(Count(), 3, drop_last=True))
list(D.DataLoader(Count(), None))
list(D.DataLoader(D.ChainDataset([Count(), Count(2)]), 3))
list(D.DataLoader(D.StackDataset(data, Squares()), 4))
list(D.DataLoader(D.StackDataset(a=Many(), b=range(10)), 4))
list(D.DataLoader(D.ConcatDataset([data, data]), 7, True))
list(D.DataLoader(data + data, 7, True))
loader = D.DataLoader(Sized(), 2); [len(loader), list(loader)]
[list(D.RandomSampler(range(10))), list(D.RandomSampler(range(10), num_samples=4))]
list(D.RandomSampler(range(10), num_samples=25))
list(D.RandomSampler(range(10), True, 70))
list(D.RandomSampler(range(10), True, 64))
g = torch.Generator().manual_seed(3); [list(D.RandomSampler(range(5), generator=g)), torch.rand(3, generator=g)]
list(D.SubsetRandomSampler([3, 1, 4, 1, 5]))
list(D.WeightedRandomSampler([0.1, 3, 2], 20))
list(D.WeightedRandomSampler([0.1, 3, 2], 2, False, generator=torch.Generator().manual_seed(1)))
[list(D.DistributedSampler(range(10), 3, r)) for r in range(3)]
[list(D.DistributedSampler(range(10), 3, r, False, drop_last=True)) for r in range(3)]
[list(D.DistributedSampler(range(2), 5, r, seed=3)) for r in range(5)]
[[list(s) for e in (0, 1) if s.set_epoch(e) is None] for s in [D.DistributedSampler(range(10), 3, 1)]]
[len(D.BatchSampler(range(10), 3, last)) for last in (True, False)]
[list(p.indices) for p in D.random_split(range(10), [3, 7])]
[list(p.indices) for p in D.random_split(range(11), [0.5, 0.3, 0.2], torch.Generator().manual_seed(2))]
[list(p) for p in D.random_split(range(3), [0.9, 0.1])]
D.random_split(range(3), [1, 1])
D.random_split(range(3), [1.5, -0.5])
D.default_collate([Point(1, 2.0), Point(3, 4.0)])
D.default_collate([{"a": 1, "b": [2, "x"]}, {"a": 3, "b": [4, "y"]}])
D.default_collate([collections.OrderedDict(a=1), collections.OrderedDict(a=2)])
D.default_collate([collections.defaultdict(int, a=1), collections.defaultdict(int, a=2)])
D.default_collate([collections.UserList([1, 2]), collections.UserList([3, 4])])
D.default_collate([np.float32(3), np.float32(4)])
D.default_collate([np.arange(3), np.arange(3)])
D.default_collate([True, False])
D.default_collate([1, 2.5])
D.default_collate([1.0, 2])
D.default_collate([b"a", b"b"])
D.default_collate([range(2), range(2)])
D.default_collate([torch.tensor(1), torch.tensor(2)])
D.default_collate([torch.ones(2), torch.ones(3)])
D.default_collate([[1, 2], [3]])
D.default_collate([object()])
D.default_collate([None])
D.default_collate([np.array(["a"])])
D.default_collate([1 + 2j])
D.default_convert([np.arange(3), "a", {"b": np.float32(1)}, (np.ones(2), 3), Point(np.ones(1), None)])
torch.utils.data.dataloader.default_collate([1, 2])
torch.utils.data._utils.collate.default_collate([(1, "a"), (2, "b")])
loader = D.DataLoader(data); loader.batch_size = 3
D.DataLoader(data, num_workers=-1)
D.DataLoader(data, timeout=-1)
D.DataLoader(data, prefetch_factor=2)
D.DataLoader(data, num_workers=1, prefetch_factor=-2)
D.DataLoader(data, persistent_workers=True)
D.DataLoader(Count(), shuffle=True)
D.DataLoader(Count(), sampler=[1])
D.DataLoader(data, sampler=[1], shuffle=True)
D.DataLoader(data, batch_sampler=[[1]], batch_size=3)
D.DataLoader(data, batch_size=None, drop_last=True)
D.DataLoader(data, batch_size=0)
D.DataLoader(data, batch_size=2.5)
D.DataLoader([], shuffle=True)
list(D.DataLoader([]))
D.DataLoader(data, multiprocessing_context="fork")
D.DataLoader(data, multiprocessing_context="bla", num_workers=1)
D.RandomSampler(data, replacement=3)
D.RandomSampler(data, num_samples=0)
D.WeightedRandomSampler([1.0], True)
D.WeightedRandomSampler([[1.0, 2]], 2)
D.BatchSampler([1], 0, True)
D.BatchSampler([1], 2, 1)
D.DistributedSampler(data, 2, 3)
D.TensorDataset(torch.ones(3), torch.ones(2))
D.StackDataset()
D.StackDataset([1], [1, 2])
D.ConcatDataset([])
D.ConcatDataset([Count()])
D.ConcatDataset([[1, 2], [3]])[-4]
[D.ConcatDataset([[1, 2], [3]])[i] for i in (-1, -3, 2)]
D.ConcatDataset([[1, 2], [3]]).cummulative_sizes
list(D.ChainDataset([[1]]))
D.Dataset()[0]
len(D.Dataset())
len(D.DataLoader(Count()))
[D.get_worker_info(), D.Subset(np.arange(10), [3, 4, 5])[[0, 1]]]
list(D.DataLoader(data, pin_memory=True))
s = Eager(); [list(D.DataLoader(data, batch_sampler=s)), s.passes]
""".strip().splitlines()

WITH_WORKERS = """
list(D.DataLoader(data, 3, True, num_workers=2))
list(D.DataLoader(data, 3, True, num_workers=1, prefetch_factor=1))
list(D.DataLoader(Squares(), 4, True, num_workers=2, drop_last=True))
list(D.DataLoader(Squares(), None, num_workers=2))
list(D.DataLoader(Count(), 2, num_workers=2))
list(D.DataLoader(Count(), None, num_workers=2))
list(D.DataLoader(Seeds(), 2, num_workers=2))
list(D.DataLoader(Seeds(), 2, num_workers=2, generator=torch.Generator().manual_seed(9)))
loader = D.DataLoader(Seeds(), 3, num_workers=2, persistent_workers=True); [list(loader), list(loader)]
loader = D.DataLoader(Count(), 2, num_workers=2, persistent_workers=True); [list(loader), list(loader)]
loader = D.DataLoader(data, 2, True, num_workers=2, persistent_workers=True); [next(iter(loader)), list(loader)]
loader = D.DataLoader(data, 2, True, num_workers=2); [next(iter(loader)), list(loader), torch.rand(1)]
list(D.DataLoader(Seeds(), num_workers=1, worker_init_fn=lambda k: torch.manual_seed(k + 100)))[0][1:4]
list(D.DataLoader(data, 4, num_workers=1, collate_fn=lambda rows: len(rows)))
s = Eager(); [list(D.DataLoader(data, batch_sampler=s, num_workers=1)), s.passes]
list(D.DataLoader(data, 4, sampler=D.SubsetRandomSampler(range(10)), num_workers=2))
loader = D.DataLoader(Sized(5), 2, num_workers=1); [len(loader), list(loader)]
list(D.DataLoader(data, 5, num_workers=1, timeout=60))
sorted(len(b[0]) for b in D.DataLoader(data, 3, num_workers=2, in_order=False))
""".strip().splitlines()


def program(line: str) -> str:
    """A row of the table as the lines of a program."""
    return line.replace("; ", "\n")


@pytest.mark.parametrize("line", PROGRAMS)
def test_as_pytorch(line: str) -> None:
    theirs, mine = (outcome(library, program(line)) for library in LIBRARIES)
    assert mine == theirs


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("line", WITH_WORKERS)
def test_workers_as_pytorch(line: str) -> None:
    theirs, mine = (outcome(library, program(line)) for library in LIBRARIES)
    gc.collect()
    assert mine == theirs


def test_seeds_of_workers() -> None:
    from torch.utils.data._utils.worker import _generate_state

    random_state, state = np.random.get_state(), mt.get_rng_state()  # noqa: NPY002
    try:
        for base, number in ((3, 0), (2**62 + 12345, 7)):
            seed_everything(base, number)
            mine = np.random.get_state()[1]  # type: ignore[index] # noqa: NPY002
            np.random.seed(_generate_state(base, number))  # noqa: NPY002
            assert (mine == np.random.get_state()[1]).all()  # type: ignore[index] # noqa: NPY002
    finally:
        np.random.set_state(random_state)  # noqa: NPY002
        mt.set_rng_state(state)


# ------------------------------------------------------------------------------ workers alone

D = mt.utils.data


class Task(D.Dataset[Any]):
    """Ten elements, made by a function."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self.make = make

    def __len__(self) -> int:
        return 10

    def __getitem__(self, i: int) -> Any:
        return self.make(i)


def fails(kind: Any, i: int, *more: Any) -> int:
    if i == 2:
        raise kind(*more) if len(more) > 1 else kind("no such luck", *more)
    return i


class Two(Exception):
    def __init__(self, a: Any, b: Any) -> None:
        super().__init__(a, b)


class Worded(Exception):
    message = "of its own"

    def __init__(self, message: str) -> None:
        super().__init__(message)


@pytest.mark.parametrize(
    ("kind", "raised", "more"),
    [
        *((kind, kind, ()) for kind in (ValueError, KeyError, RuntimeError, Worded)),
        (Two, RuntimeError, (2,)),
        (UnicodeDecodeError, RuntimeError, ("utf-8", b"ab", 0, 1, "no such luck")),
    ],
)
def test_errors_reach_the_user(kind: Any, raised: Any, more: Any) -> None:
    loader = D.DataLoader(Task(lambda i: fails(kind, i, *more)), num_workers=1)
    batches = iter(loader)
    assert [next(batches).item() for _ in range(2)] == [0, 1]
    with pytest.raises(raised) as caught:
        next(batches)
    text = str(caught.value)
    start = f"Caught {kind.__name__} in DataLoader worker process 0.\nOriginal Traceback ("
    assert text.startswith(start)
    assert "in fails" in text
    assert "no such luck" in text
    # What failed is one batch, and not the loader.
    assert [batch.item() for batch in batches] == list(range(3, 10))


def test_an_error_whose_class_only_the_worker_knows() -> None:
    def make(i: int) -> Any:
        class OwnError(Exception):
            pass

        raise OwnError("mine")

    with pytest.raises(RuntimeError, match="Caught OwnError in DataLoader worker process 0"):
        next(iter(D.DataLoader(Task(make), num_workers=1)))


def test_errors_before_the_first_batch() -> None:
    with pytest.raises(ZeroDivisionError, match="in DataLoader worker process 0"):
        list(D.DataLoader(range(3), num_workers=1, worker_init_fn=lambda k: 1 // 0))

    class Bad(D.IterableDataset[Any]):
        def __iter__(self) -> Iterator[Any]:
            raise ValueError("at once")

    with pytest.raises(ValueError, match="Caught ValueError in DataLoader worker process 0"):
        list(D.DataLoader(Bad(), num_workers=1))


def test_what_cannot_be_pickled_is_said() -> None:
    loader = D.DataLoader(Task(lambda i: lambda: i), num_workers=1, collate_fn=list)
    with pytest.raises(Exception, match=r"in DataLoader worker process 0[\s\S]*lambda"):
        list(loader)


def test_a_killed_worker_is_noticed() -> None:
    loader = D.DataLoader(
        Task(lambda i: os.kill(os.getpid(), signal.SIGKILL) if i == 2 else i), num_workers=1
    )
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited") as caught:
        list(loader)
    assert "is killed by signal: Killed" in str(caught.value.__cause__)


def test_a_worker_that_exits_is_noticed() -> None:
    with pytest.raises(RuntimeError, match=r"\(pid\(s\) \d+\) exited unexpectedly") as caught:
        list(D.DataLoader(Task(lambda i: os._exit(3)), num_workers=2))
    assert "exit code 3" in str(caught.value.__cause__)


def test_timeout() -> None:
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.2 seconds"):
        list(D.DataLoader(Task(lambda i: time.sleep(0.6)), num_workers=1, timeout=0.2))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("end", ["break", "exhausted", "error", "shutdown"])
def test_no_worker_is_left(end: str) -> None:
    loader = D.DataLoader(Task(lambda i: fails(ValueError, i) if end == "error" else i), None,
                          num_workers=2)  # fmt: skip
    batches = iter(loader)
    pids = [worker.pid for worker in batches._workers]
    assert all(map(alive, pids))
    if end == "exhausted":
        assert list(batches) == list(range(10))
    else:
        assert next(batches) == 0
    if end == "error":
        with pytest.raises(ValueError, match="no such luck"):
            list(batches)
    if end == "shutdown":
        batches._shutdown_workers()
    elif end != "exhausted":
        del batches  # at once, without a garbage collection
    assert not any(map(alive, pids))


def test_prefetching() -> None:
    """Batches are made while nobody asks for them, and no more than is said."""
    made = mt.zeros(1)
    reads, writes = os.pipe()

    def make(i: int) -> int:
        os.write(writes, b"x")
        return i

    batches = iter(D.DataLoader(Task(make), None, num_workers=1, prefetch_factor=3))
    assert b"".join(os.read(reads, 1) for _ in range(3)) == b"xxx"
    os.set_blocking(reads, False)
    with pytest.raises(BlockingIOError):
        os.read(reads, 1)
    assert list(batches) == list(range(10))
    assert made == 0
    os.close(reads)
    os.close(writes)


def test_large_and_odd_samples_arrive_whole() -> None:
    def make(i: int) -> Any:
        rng = np.random.default_rng(i)
        return {
            "large": mt.from_numpy(rng.random((300, 500))),
            "turned": mt.from_numpy(rng.random((40, 80))).t(),
            "array": rng.random(5000).astype(np.float16),
            "none": None,
            "text": "é" * i,
            "parts": [np.arange(i), (mt.tensor(i), i)],
        }

    data = Task(make)
    for i, found in enumerate(D.DataLoader(data, None, num_workers=2, collate_fn=lambda x: x)):
        assert plain(found) == plain(data[i])
        found["large"].add_(1)  # memory that can be written to


def test_memory_that_a_dataset_uses_again() -> None:
    buffer = np.empty(20000)

    def make(i: int) -> Any:
        buffer[:] = i
        return buffer

    found = [int(x.sum()) for x in D.DataLoader(Task(make), None, num_workers=1)]
    assert found == [20000 * i for i in range(10)]


def test_an_error_is_raised_once_more() -> None:
    try:
        raise KeyError("gone")
    except KeyError as error:
        wrapped = ExceptionWrapper(error, "in a test")
    with pytest.raises(KeyError) as caught:
        wrapped.reraise()
    assert "Caught KeyError in a test.\nOriginal Traceback" in str(caught.value)


def test_typed_datasets() -> None:
    class Pairs(D.Dataset[tuple[int, int]]):
        def __len__(self) -> int:
            return 3

        def __getitem__(self, i: int) -> tuple[int, int]:
            return i, -i

    loader: D.DataLoader[Any] = D.DataLoader[Any](Pairs(), 3)
    assert plain(list(loader)) == plain(list(torch.utils.data.DataLoader(Pairs(), 3)))
    with pytest.raises(TypeError, match="abstract"):
        D.IterableDataset()


def test_what_is_not_there() -> None:
    with pytest.raises(AttributeError, match="IterableDataset"):
        _ = D.IterDataPipe
    with pytest.raises(RuntimeError, match="Requires distributed package"):
        D.DistributedSampler(range(3))
    with pytest.raises(TypeError, match="invalid combination"):
        list(D.DataLoader(range(3), generator=5))


INTERRUPTED = """
import os, signal, sys, time
# A shell lets what it runs in the background ignore Ctrl-C; here it must not.
signal.signal(signal.SIGINT, signal.default_int_handler)
import minitorch.torch as torch
class Slow(torch.utils.data.Dataset):
    def __len__(self): return 10
    def __getitem__(self, i):
        if i:
            time.sleep(60)
        return i
workers = iter(torch.utils.data.DataLoader(Slow(), num_workers=2))
print(*(w.pid for w in workers._workers), flush=True)
next(workers)
print("going", flush=True)
next(workers)
"""


def test_control_c_leaves_no_worker() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stdout is not None
    pids = [int(word) for word in child.stdout.readline().split()]
    assert child.stdout.readline() == "going\n"
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    _, errors = child.communicate(timeout=60)
    assert errors.count("KeyboardInterrupt") == 1, errors
    assert len(pids) == 2
    assert not any(map(alive, pids))
