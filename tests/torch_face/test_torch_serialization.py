"""`torch.save` and `torch.load`: PyTorch reads what is written here, and the other way round."""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt


def content(T: Any) -> dict[str, Any]:
    """Something of everything that is saved."""
    base = T.arange(10.0)
    layers = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.LayerNorm(3))
    return {
        "state": layers.state_dict(),
        "parameter": layers[0].weight,
        "frozen": T.nn.Parameter(T.ones(2), requires_grad=False),
        "dtype": T.float32,
        "bool": T.bool,
        "size": T.Size([2, 3]),
        "device": T.device("cpu"),
        "mask": T.tensor([True, False]),
        "half": T.ones(2, dtype=T.float16),
        "integers": [T.ones(1, dtype=d) for d in (T.uint8, T.int8, T.int16, T.int32, T.int64)],
        "complex": T.tensor([1 + 2j]),
        "base": base,
        "every second": base[2:8:2],
        "turned": T.arange(6).reshape(2, 3).t(),
        "expanded": T.ones(3, 1).expand(3, 4),
        "empty": T.empty(0, 3),
        "number": T.tensor(3.5),
        "leaf": T.ones(2, requires_grad=True),
        "plain": [1, 2.5, "x", None, (1, {2}), OrderedDict(a=1), True, 10**30, b"bytes", 1 + 2j],
    }


def shown(value: Any) -> Any:
    if hasattr(value, "detach"):
        facts = type(value).__name__, str(value.dtype), tuple(value.shape), value.stride()
        return *facts, value.requires_grad, value.detach().numpy().tolist()
    if isinstance(value, dict):
        return type(value).__name__, {key: shown(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    return repr(value)


def saved(T: Any, value: Any) -> io.BytesIO:
    file = io.BytesIO()
    T.save(value, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("writer", [torch, mt])
@pytest.mark.parametrize("reader", [torch, mt])
def test_each_reads_what_the_other_writes(writer: Any, reader: Any) -> None:
    torch.manual_seed(0)
    mt.manual_seed(0)
    value = content(writer)
    found = reader.load(saved(writer, value))
    assert shown(found) == shown(value)
    assert found["state"]._metadata == value["state"]._metadata
    found["base"][2] = 99  # what shared memory shares it again
    assert found["every second"][0] == 99
    assert found["parameter"].data_ptr() == found["state"]["0.weight"].data_ptr()


def test_the_archive_is_laid_out_as_pytorchs() -> None:
    files = [zipfile.ZipFile(saved(T, {"a": T.ones(3), "b": T.zeros(2)})) for T in (torch, mt)]
    theirs, ours = ([info.filename for info in file.infolist()] for file in files)
    assert ours == theirs
    for name in theirs:
        if "serialization_id" not in name and not name.endswith("data.pkl"):
            assert files[1].read(name) == files[0].read(name)
    for info in files[1].infolist():
        start = info.header_offset + 30 + len(info.filename) + len(info.extra)
        assert start % 64 == 0  # as `mmap` wants it


def test_mmap_of_pytorch_reads_our_files(tmp_path: Path) -> None:
    mt.save({"a": mt.arange(100.0)}, tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt", mmap=True)["a"].tolist() == list(range(100))


def test_whole_modules_go_both_ways() -> None:
    torch.manual_seed(0)
    x = np.ones((1, 2), np.float32)
    theirs = torch.nn.Sequential(
        torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Dropout(0.5)
    ).eval()
    ours = mt.load(saved(torch, theirs), weights_only=False)
    assert repr(ours) == repr(theirs)
    assert isinstance(ours[0].weight, mt.nn.Parameter)
    assert ours.training is False
    again = torch.load(saved(mt, ours), weights_only=False)
    want = theirs(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(ours(mt.tensor(x)).detach().numpy(), want, rtol=1e-6)
    np.testing.assert_array_equal(again(torch.tensor(x)).detach().numpy(), want)


def test_functions_go_by_pytorchs_names() -> None:
    found = torch.load(saved(mt, [mt.nn.functional.softplus, mt.exp]), weights_only=False)
    assert found == [torch.nn.functional.softplus, torch.exp]


class Sly:
    """What runs code when it is loaded."""

    def __reduce__(self) -> Any:
        return os.system, ("exit 1",)


class Own:
    """A class of the user's."""

    def __init__(self, value: int) -> None:
        self.value = value


def test_a_file_that_would_run_code_is_refused_with_the_name() -> None:
    file = saved(torch, {"weights": torch.ones(2), "more": Sly()})
    with pytest.raises(pickle.UnpicklingError, match=r"wants to call \w+\.system"):
        mt.load(file)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(file)


def test_allowing_a_class() -> None:
    file = saved(mt, Own(3))
    with pytest.raises(pickle.UnpicklingError, match=r"test_torch_serialization\.Own"):
        mt.load(file)
    file.seek(0)
    with mt.serialization.safe_globals([Own]):
        assert mt.serialization.get_safe_globals() == [Own]
        assert mt.load(file).value == 3
    assert mt.serialization.get_safe_globals() == []
    file.seek(0)
    assert mt.load(file, weights_only=False).value == 3
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.nn\.modules\.linear\.Linear"):
        mt.load(saved(mt, mt.nn.Linear(1, 1)))
    mt.serialization.add_safe_globals([mt.nn.Linear])
    try:
        with pytest.raises(pickle.UnpicklingError, match="sub_class"):
            mt.load(saved(mt, [mt.nn.Linear, sub_class]))
    finally:
        mt.serialization.clear_safe_globals()


def sub_class() -> None:
    pass


def test_a_forged_place_in_memory_is_refused() -> None:
    """A file may not make tensors that reach beyond their storage."""
    for offset, size, stride in (
        (0, (5,), (1,)),
        (3, (2,), (1,)),
        (-1, (1,), (1,)),
        (0, (2, 2), (1, 9)),
        (2, (3,), (-1,)),
    ):
        described = io.BytesIO()
        pickler = mt.serialization._Pickler(described, 2)
        whole = np.zeros(4, np.float32)
        pickler.storages[id(whole)] = "0", whole, mt.float32

        class Forged:
            def __reduce__(self, parts: Any = (offset, size, stride), whole: Any = whole) -> Any:
                storage = mt.serialization._Storage(whole)
                return mt.serialization._TENSOR, (storage, *parts, False, OrderedDict())

        pickler.dump(Forged())
        file = io.BytesIO()
        mt.serialization._write_archive(file, "archive", described.getvalue(), [("0", whole)])
        with pytest.raises((RuntimeError, ValueError)):
            mt.load(file)


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    mt.save({"a": mt.ones(100)}, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RuntimeError, match="not a file in PyTorch's zip format, or it was cut off"):
        mt.load(path)
    path.write_bytes(b"")
    with pytest.raises(RuntimeError, match="not a file in PyTorch's zip format"):
        mt.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/b", b"")
    with pytest.raises(RuntimeError, match=r"data\.pkl"):
        mt.load(path)
    with pytest.raises(FileNotFoundError):
        mt.load(tmp_path / "nothing.pt")
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        mt.save(1, tmp_path / "no" / "model.pt")
    with pytest.raises(AttributeError, match="expected 'f' to be"):
        mt.save(1, 3)
    with pytest.raises(AttributeError, match="expected 'f' to be"):
        mt.load(3)


class Refusing:
    def __reduce__(self) -> Any:
        raise ValueError("cannot be saved")


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    mt.save([1], path)
    with pytest.raises(ValueError, match="cannot be saved"):
        mt.save([mt.ones(3), Refusing()], path)
    assert mt.load(path) == [1]
    assert os.listdir(tmp_path) == ["model.pt"]


def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    mt.save({"step": 0, "weights": mt.zeros(200_000)}, path)
    program = (
        "import sys, minitorch.torch as torch\n"
        "for step in range(1, 10**6):\n"
        "    torch.save({'step': step, 'weights': torch.full((200_000,), float(step))}, sys.argv[1])\n"
        "    print(step, flush=True)\n"
    )
    steps = set()
    for wait in (0.0, 0.003, 0.006, 0.009):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        found = mt.load(path)
        assert bool((found["weights"] == found["step"]).all())
        steps.add(found["step"])
    assert steps - {0}


def test_map_location() -> None:
    file = saved(torch, {"a": torch.ones(2)})
    for where in ("cpu", mt.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: storage):
        file.seek(0)
        assert mt.load(file, map_location=where)["a"].tolist() == [1, 1]
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"map_location=torch\.device\('cpu'\)"):
        mt.load(file, map_location="cuda")


def test_a_tensor_without_data_is_not_saved() -> None:
    with pytest.raises(NotImplementedError, match="no data to be saved"):
        mt.save(mt.ones(2, device="meta"), io.BytesIO())


def test_memory_seen_in_two_ways_is_not_saved() -> None:
    for T in (torch, mt):
        t = T.ones(4)
        with pytest.raises(RuntimeError, match="view the same data as different"):
            T.save([t, t.view(T.int32)], io.BytesIO())
