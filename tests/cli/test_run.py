"""`minitorch run`: a program as a person runs it, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

START = "from minitorch.cli import main; main()"


def write(folder: Path, **files: str) -> None:
    """Files by name, without ".py"; "pack_in_x" is x in the package pack."""
    for name, text in files.items():
        path = folder / (name.replace("_in_", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def run(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """`minitorch run arguments...` in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", START, "run", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_arguments_local_modules_and_submodules(tmp_path: Path) -> None:
    write(
        tmp_path,
        train="""
            import argparse, sys
            import torch, torch.nn as nn
            import torch.nn.functional as F
            import torch.backends.cudnn as cudnn
            from torch.utils.data import DataLoader, TensorDataset
            from torch.nn.parallel import DistributedDataParallel as DDP
            from torch.distributed import init_process_group, destroy_process_group
            from model import Net
            from parts import scale

            parser = argparse.ArgumentParser()
            parser.add_argument("--lr", type=float, default=0.1)
            parser.add_argument("-m", action="store_true")
            arguments = parser.parse_args()
            cudnn.benchmark = True
            print(__name__, sys.argv, arguments.lr, arguments.m, torch.__name__)
            print(isinstance(Net(), nn.Module), scale(2), F.relu is nn.functional.relu)
        """,
        model="import torch\nclass Net(torch.nn.Module):\n    pass\n",
        parts_in___init__="from .inner import scale\n",
        parts_in_inner="import torch\ndef scale(x):\n    return float(torch.tensor(x) * 2)\n",
    )
    done = run(tmp_path, "train.py", "--lr", "0.5", "-m")
    assert done.stdout.splitlines() == [
        "__main__ ['train.py', '--lr', '0.5', '-m'] 0.5 True minitorch.torch",
        "True 4.0 True",
    ]
    assert done.stderr == ""


@pytest.mark.parametrize(("end", "code"), [("sys.exit(3)", 3), ("sys.exit('bad')", 1)])
def test_exit_codes(tmp_path: Path, end: str, code: int) -> None:
    write(tmp_path, x=f"import sys, torch\nprint('here')\n{end}\n")
    done = run(tmp_path, "x.py", code=code)
    assert done.stdout == "here\n"
    assert done.stderr == ("bad\n" if "bad" in end else "")


def test_a_traceback_begins_with_the_program(tmp_path: Path) -> None:
    write(
        tmp_path,
        x="""
            import torch
            def f():
                return torch.zeros(2) @ torch.zeros(3)
            try:
                f()
            except RuntimeError as error:
                raise ValueError("mine") from error
        """,
        y="import torch\nimport z\n",
        z="1 / 0\n",
        s="import torch\nx = = 1\n",
        a="import torch\ntorch.zeroes(2)\n",
    )
    text = run(tmp_path, "x.py", code=1).stderr
    last = text.split("direct cause of the following exception:")[1].strip().splitlines()
    assert last[0] == "Traceback (most recent call last):"
    assert last[1].strip() == 'File "x.py", line 8, in <module>'
    assert last[-1] == "ValueError: mine"
    assert "running.py" not in text
    assert "runpy" not in text
    text = run(tmp_path, "y.py", code=1).stderr
    assert [line.strip() for line in text.splitlines() if "File" in line] == [
        'File "y.py", line 2, in <module>',
        f'File "{tmp_path / "z.py"}", line 1, in <module>',
    ]
    text = run(tmp_path, "s.py", code=1).stderr
    assert 'File "s.py", line 2' in text
    assert text.splitlines()[-1].startswith("SyntaxError")
    assert "running.py" not in text
    text = run(tmp_path, "a.py", code=1).stderr
    assert text.splitlines()[-1] == (
        "AttributeError: module 'torch' has no attribute 'zeroes': minitorch does not have it; the "
        "nearest is torch.zeros."
    )


def test_imports_that_cannot_be_are_named_before_the_start(tmp_path: Path) -> None:
    write(
        tmp_path,
        x="""
            print("started")
            import torch
            from torch.nn import Linear, Liner
            import helper
        """,
        helper="import torch.nested\nfrom torch.distributed.fsdp.wrap import size_based\n",
    )
    done = run(tmp_path, "x.py", code=1)
    assert done.stdout == ""
    assert done.stderr == (
        "Error: x.py:4: torch.nn.Liner: minitorch does not have it; the nearest is torch.nn.Linear."
        "; helper.py:1: torch.nested: minitorch does not have it; there are no nested tensors; pad,"
        " or torch.nn.utils.rnn.pack_sequence.; helper.py:2: "
        "torch.distributed.fsdp.wrap.size_based: minitorch does not have "
        "torch.distributed.fsdp.wrap. minitorch does not have torch.distributed.fsdp. minitorch "
        "does not have it; there are no groups of processes: minitorch trains in one process; "
        "start the program without torchrun (no RANK, WORLD_SIZE).\n"
    )


def test_imports_that_may_never_be_needed_are_noted(tmp_path: Path) -> None:
    write(
        tmp_path,
        x="""
            import sys
            from typing import TYPE_CHECKING
            import torch
            try:
                import torch.nested as nested
            except ImportError:
                nested = None
            if TYPE_CHECKING:
                from torch.nested import nested_tensor
            if len(sys.argv) > 1:
                import torch.export
            def never():
                from torch.nn import Liner
            print("done", nested)
        """,
    )
    done = run(tmp_path, "x.py")
    assert done.stdout == "done None\n"
    lines = done.stderr.splitlines()
    assert [line.partition(": minitorch")[0] for line in lines] == [
        "Note: x.py:12: torch.export",
        "Note: x.py:14: torch.nn.Liner",
    ]
    assert all(line.endswith("Needed only where this line is reached.") for line in lines)
    text = run(tmp_path, "x.py", "now", code=1).stderr
    assert text.splitlines()[-1].startswith("ModuleNotFoundError: No module named 'torch.export'")


def test_a_module_is_run_as_python_m_does(tmp_path: Path) -> None:
    write(
        tmp_path,
        pack_in___init__="",
        pack_in___main__="from .inner import f\nimport sys\nprint(__name__, sys.argv[1:], f())\n",
        pack_in_inner="import torch\ndef f():\n    return torch.ones(2).sum().item()\n",
        pack_in_bad="import torch\ndef g():\n    raise KeyError('x')\ng()\n",
    )
    assert run(tmp_path, "-m", "pack", "--a").stdout == "__main__ ['--a'] 2.0\n"
    text = run(tmp_path, "-m", "pack.bad", code=1).stderr
    files = [line.strip() for line in text.splitlines() if "File" in line]
    assert files == [
        f'File "{tmp_path / "pack" / "bad.py"}", line 4, in <module>',
        f'File "{tmp_path / "pack" / "bad.py"}", line 3, in g',
    ]


def test_classes_of_the_program_in_pickles(tmp_path: Path) -> None:
    write(
        tmp_path,
        x="""
            import copy, io, pickle
            import torch, torch.nn as nn

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = nn.Linear(2, 1)

            net = Net()
            optimizer = torch.optim.Adam(net.parameters())
            net.layer(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            for again in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
                print(type(again) is Net, again.layer.weight.equal(net.layer.weight))
            torch.save(net, "net.pt")
            again = torch.load("net.pt", weights_only=False)
            print(type(again) is Net, again.layer.weight.equal(net.layer.weight))
            print(len(copy.deepcopy(optimizer).state))
        """,
    )
    assert run(tmp_path, "x.py").stdout.splitlines() == ["True True"] * 3 + ["2"]


def test_einops_and_matplotlib_take_tensors(tmp_path: Path) -> None:
    pytest.importorskip("einops")
    write(
        tmp_path,
        x="""
            import torch, torch.nn as nn
            from einops import rearrange, reduce, repeat, einsum, pack, unpack
            from einops.layers.torch import Rearrange, Reduce
            import matplotlib
            matplotlib.use("Agg")
            import matplotlib.pyplot as plt

            x = torch.arange(24.0, requires_grad=True)
            y = rearrange(x, "(b c h) -> b c h", b=2, c=3)
            print(reduce(y, "b c h -> b c", "mean").tolist(), repeat(y[0, 0], "h -> 2 h").shape)
            print(einsum(y, y, "b c h, b d h -> b c d").sum().item())
            packed, shapes = pack([y[0, 0], y[0]], "* h")
            print(packed.shape, [t.shape for t in unpack(packed, shapes, "* h")])
            net = nn.Sequential(Rearrange("b c h -> b (c h)"), Reduce("b a -> b", "sum"))
            net(y).sum().backward()
            print(net, x.grad.sum().item())
            t = torch.linspace(0, 1, 5)
            (line,) = plt.plot(t, t**2)
            print(line.get_xydata().tolist()[-1])
            plt.scatter(t, t, c=t)
            plt.imshow(torch.ones(3, 4))
            plt.imshow(torch.ones(3, 4).detach().numpy())
            print(len(plt.hist(t, 5)[0]))
            try:
                plt.plot(x)
            except RuntimeError as error:
                print(error)
        """,
    )
    assert run(tmp_path, "x.py").stdout.splitlines() == [
        "[[1.5, 5.5, 9.5], [13.5, 17.5, 21.5]] torch.Size([2, 4])",
        "12204.0",
        "torch.Size([4, 4]) [torch.Size([4]), torch.Size([3, 4])]",
        "Sequential(",
        "  (0): Rearrange('b c h -> b (c h)')",
        "  (1): Reduce('b a -> b', 'sum')",
        ") 24.0",
        "[1.0, 1.0]",
        "5",
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ]


def test_safetensors_saves_and_loads_our_tensors(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    write(
        tmp_path,
        x="""
            import torch, torch.nn as nn
            from safetensors import safe_open
            from safetensors.torch import load_file, load_model, save_file, save_model

            net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
            save_file(net.state_dict(), "a.safetensors")
            found = load_file("a.safetensors")
            print(all(found[name].equal(t) for name, t in net.state_dict().items()))
            print(sorted(str(t.dtype) for t in found.values())[-1], net.load_state_dict(found))

            class Tied(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
                    self.b.weight = self.a.weight

            tied = Tied()
            save_model(tied, "b.safetensors")
            other = Tied()
            print(load_model(other, "b.safetensors"), other.b.weight.equal(tied.a.weight))
            try:
                save_file(tied.state_dict(), "c.safetensors")
            except RuntimeError as error:
                print(str(error).strip()[:25])
            with safe_open("a.safetensors", "pt") as file:
                print(file.get_tensor("0.bias").shape, file.get_slice("0.weight")[:1].shape)
        """,
    )
    assert run(tmp_path, "x.py").stdout.splitlines() == [
        "True",
        "torch.int64 <All keys matched successfully>",
        "(set(), []) True",
        "Some tensors share memory",
        "torch.Size([2]) torch.Size([1, 3])",
    ]


@pytest.mark.slow
def test_processes_share_memory_and_errors(tmp_path: Path) -> None:
    write(
        tmp_path,
        x="""
            import torch, torch.nn as nn
            import torch.multiprocessing as mp

            def add(rank, t, layer):
                with torch.no_grad():
                    t[rank] += rank + 1
                    layer.weight[0, rank] = 7.0

            def put(queue):
                queue.put(torch.arange(3))

            def fail(rank):
                if rank == 1:
                    raise ValueError("no good")

            def train(net):
                optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()

            if __name__ == "__main__":
                t, layer = torch.zeros(2).share_memory_(), nn.Linear(2, 1)
                layer.share_memory()
                mp.spawn(add, (t, layer), nprocs=2)
                print(t.tolist(), layer.weight.tolist(), t.is_shared())
                fork = mp.get_context("fork")
                before = layer.bias.item()
                worker = fork.Process(target=train, args=(layer,))
                worker.start()
                worker.join()
                print(round(layer.bias.item() - before, 4))
                queue = fork.Queue()
                worker = fork.Process(target=put, args=(queue,))
                worker.start()
                print(queue.get())
                worker.join()
                try:
                    mp.spawn(fail, nprocs=2)
                except mp.ProcessRaisedException as error:
                    lines = str(error).strip().splitlines()
                    print(lines[0], lines[-1], sep=" | ")
        """,
    )
    assert run(tmp_path, "x.py").stdout.splitlines() == [
        "[1.0, 2.0] [[7.0, 7.0]] True",
        "-0.5",
        "tensor([0, 1, 2])",
        "-- Process 1 terminated with the following error: | ValueError: no good",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_loader_with_workers(tmp_path: Path, method: str) -> None:
    write(
        tmp_path,
        x=f"""
            import torch
            from torch.utils.data import DataLoader, Dataset

            class Squares(Dataset):
                def __len__(self):
                    return 7
                def __getitem__(self, index):
                    return torch.tensor(float(index)) ** 2, index

            if __name__ == "__main__":
                loader = DataLoader(
                    Squares(), batch_size=3, num_workers=1, multiprocessing_context="{method}"
                )
                for values, indices in loader:
                    print(values.tolist(), indices.tolist())
        """,
    )
    assert run(tmp_path, "x.py").stdout.splitlines() == [
        "[0.0, 1.0, 4.0] [0, 1, 2]",
        "[9.0, 16.0, 25.0] [3, 4, 5]",
        "[36.0] [6]",
    ]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no file x.py" in run(tmp_path, "x.py", code=2).stderr
