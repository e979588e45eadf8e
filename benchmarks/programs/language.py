"""Programs about language models and small networks."""

from __future__ import annotations

from pathlib import Path

from program import Edit, Program

# Stands in for tiktoken, whose vocabulary is a download: a token is a byte of UTF-8.
BYTES_AS_TOKENS = """\
class _Bytes:
    n_vocab = 50257

    def encode(self, text, allowed_special=()):
        return list(text.encode())

    def decode(self, tokens):
        return " ".join(map(str, tokens))


def get_encoding(name):
    return _Bytes()
"""

# Stands in for ipywidgets: what follows a slider is called once.
ONE_CALL = """\
def interact(function, **sliders):
    function(1.0)


interactive = fixed = interact_manual = interact
"""

FIT_AN_IMAGE = """\
import torch
from siren_pytorch import SirenNet, SirenWrapper

torch.manual_seed(0)
net = SirenNet(dim_in=2, dim_hidden=64, dim_out=3, num_layers=5, w0_initial=30.0)
wrapper = SirenWrapper(net, latent_dim=32, image_width=32, image_height=32)
latent = torch.nn.Parameter(torch.zeros(32).normal_(0, 1e-2))
img = torch.rand(1, 3, 32, 32)
optimizer = torch.optim.Adam([*wrapper.parameters(), latent], lr=1e-4)
for step in range(300):
    loss = wrapper(img, latent=latent)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.6f}")
print(wrapper(latent=latent).mean())
"""

SHOW_LOSSES = """\
import numpy as np

for index, loss in enumerate(np.load("exps/base/loss.npy")):
    print(f"step {index} loss {loss:.6g}")
"""


def a_text(clones: Path) -> str:
    """A few thousand words of English, with the characters that the programs begin with."""
    pages = [clones / name / "README.md" for name in ("nanoGPT", "minGPT", "makemore", "micrograd")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    return "O God, O God!\n" + text.encode("ascii", "ignore").decode()


def names(clones: Path) -> str:
    return (clones / "makemore" / "names.txt").read_text(encoding="utf-8")


CHAR_LEVEL = (
    "train.py config/train_shakespeare_char.py --device=cpu --compile=False --eval_iters=5"
    " --log_interval=1 --block_size=64 --batch_size=12 --n_layer=4 --n_head=4 --n_embd=128"
    " --dropout=0.0 --eval_interval=20 --lr_decay_iters=2000"
)

# PyTorch 2.13 itself stops here: a dictionary changes size while it is iterated over.
REMOVED_WHILE_LISTED = Edit(
    "minlora/model.py",
    "in layer.parametrizations.keys():",
    "in list(layer.parametrizations.keys()):",
)

LANGUAGE: tuple[Program, ...] = (
    Program(
        "nanoGPT",
        "karpathy/nanoGPT",
        (
            "data/shakespeare_char/prepare.py",
            f"{CHAR_LEVEL} --max_iters=60",
            f"{CHAR_LEVEL} --max_iters=80 --init_from=resume",
            "sample.py --out_dir=out-shakespeare-char --device=cpu --num_samples=2"
            " --max_new_tokens=200",
        ),
        files={"data/shakespeare_char/input.txt": a_text},
        ignore=(r"mfu -?[\d.]+%",),
        packages=("requests", "tqdm", "tiktoken"),
    ),
    Program(
        "minGPT adder",
        "karpathy/minGPT",
        ("projects/adder/adder.py --trainer.max_iters=301",),
        path=(".",),
        steps=10,
    ),
    Program(
        "minGPT chargpt",
        "karpathy/minGPT",
        (
            "projects/chargpt/chargpt.py --model.model_type=gpt-nano --data.block_size=64"
            " --trainer.max_iters=101",
        ),
        files={"input.txt": a_text},
        path=(".",),
        steps=10,
    ),
    *(
        Program(
            f"makemore {kind}",
            "karpathy/makemore",
            (f"makemore.py --type {kind} --max-steps 501",),
            steps=10,
            packages=("tensorboard",),
        )
        for kind in ("bigram", "mlp", "bow", "rnn", "gru", "transformer")
    ),
    Program(
        "micrograd tests",
        "karpathy/micrograd",
        ("-m pytest -q test/test_engine.py",),
        packages=("pytest",),
        path=(".",),
    ),
    Program(
        "zero to hero 1: bigrams",
        "karpathy/nn-zero-to-hero",
        ("makemore_part1_bigrams.py",),
        folder="lectures/makemore",
        notebooks=("lectures/makemore/makemore_part1_bigrams.ipynb",),
        edits=(Edit("lectures/makemore/makemore_part1_bigrams.py", "range(1):", "range(30):"),),
        left_out=("P.shape", "P.sum(1, keepdim=True).shape", "P.sum(1).shape"),
        files={"lectures/makemore/names.txt": names},
        seed=0,
        watch=True,
    ),
    Program(
        "zero to hero 2: MLP",
        "karpathy/nn-zero-to-hero",
        ("makemore_part2_mlp.py",),
        folder="lectures/makemore",
        notebooks=("lectures/makemore/makemore_part2_mlp.ipynb",),
        edits=(Edit("lectures/makemore/makemore_part2_mlp.py", "200000", "1000"),),
        left_out=("loss = -prob[torch.arange(32), Y].log().mean()\nloss",),
        files={"lectures/makemore/names.txt": names},
        seed=0,
        watch=True,
    ),
    Program(
        "zero to hero 3: batch norm",
        "karpathy/nn-zero-to-hero",
        ("makemore_part3_bn.py",),
        folder="lectures/makemore",
        notebooks=("lectures/makemore/makemore_part3_bn.ipynb",),
        edits=(Edit("lectures/makemore/makemore_part3_bn.py", "200000", "1000"),),
        files={
            "lectures/makemore/names.txt": names,
            "lectures/makemore/ipywidgets.py": ONE_CALL,
        },
        seed=0,
        watch=True,
    ),
    Program(
        "GPT from scratch: generate",
        "rasbt/LLMs-from-scratch",
        ("gpt.py",),
        folder="ch04/01_main-chapter-code",
        files={"ch04/01_main-chapter-code/tiktoken.py": BYTES_AS_TOKENS},
        note="GPT-2's size, 163 million numbers; forward only",
    ),
    Program(
        "GPT from scratch: train",
        "rasbt/LLMs-from-scratch",
        ("gpt_train.py",),
        folder="ch05/01_main-chapter-code",
        edits=(
            Edit("ch05/01_main-chapter-code/gpt_train.py", '"emb_dim": 768', '"emb_dim": 96'),
            Edit("ch05/01_main-chapter-code/gpt_train.py", '"n_layers": 12', '"n_layers": 2'),
            Edit("ch05/01_main-chapter-code/gpt_train.py", '"num_epochs": 10', '"num_epochs": 1'),
        ),
        files={
            "ch05/01_main-chapter-code/tiktoken.py": BYTES_AS_TOKENS,
            "ch05/01_main-chapter-code/the-verdict.txt": a_text,
        },
        watch=True,
        packages=("requests",),
        note="a smaller model, and bytes as tokens",
    ),
    Program(
        "tiny-diffusion",
        "tanelp/tiny-diffusion",
        ("ddpm.py --dataset dino --num_epochs 4", "show_losses.py"),
        files={"show_losses.py": SHOW_LOSSES},
        seed=0,
        packages=("pandas", "sklearn", "tqdm"),
    ),
    Program(
        "SIREN's page",
        "lucidrains/siren-pytorch",
        ("README.py",),
        notebooks=("README.md",),
        seed=0,
        watch=True,
        packages=("einops",),
    ),
    Program(
        "SIREN fits an image",
        "lucidrains/siren-pytorch",
        ("fit.py",),
        files={"fit.py": FIT_AN_IMAGE},
        note="the library is theirs; the training loop is ours, as its page leaves that out",
        steps=10,
        packages=("einops",),
    ),
    Program(
        "minLoRA demo",
        "cccntu/minLoRA",
        ("demo.py",),
        notebooks=("demo.ipynb",),
        edits=(REMOVED_WHILE_LISTED,),
        note="PyTorch 2.13 itself stops without this edit",
        seed=0,
        losses=r"(-?\d+\.\d+)",
    ),
    Program(
        "minLoRA advanced",
        "cccntu/minLoRA",
        ("advanced_usage.py",),
        notebooks=("advanced_usage.ipynb",),
        edits=(REMOVED_WHILE_LISTED,),
        note="PyTorch 2.13 itself stops without this edit",
        seed=0,
        ignore=(r"<class '[\w.]+'>",),
    ),
    Program(
        "harmonic oscillator PINN",
        "benmoseley/harmonic-oscillator-pinn",
        ("'Harmonic oscillator PINN.py'",),
        notebooks=("Harmonic oscillator PINN.ipynb",),
        edits=(
            Edit("Harmonic oscillator PINN.py", "range(1000)", "range(200)"),
            Edit("Harmonic oscillator PINN.py", "range(20000)", "range(1500)"),
        ),
        files={"plots/.keep": ""},
        seed=0,
        watch=True,
    ),
)
