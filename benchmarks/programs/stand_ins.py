"""Small files that stand in for what programs download: texts, pictures, and packages.

They are written into the copy of a program, next to it. Both libraries use the same.
"""

from __future__ import annotations

import random

# Digits drawn with strokes, moved about and with noise; everything follows from numpy's seed.
TORCHVISION = """\
import random

import numpy as np
import torch

STROKES = {
    "top": (slice(5, 7), slice(9, 19)),
    "middle": (slice(13, 15), slice(9, 19)),
    "bottom": (slice(21, 23), slice(9, 19)),
    "left above": (slice(5, 15), slice(8, 10)),
    "right above": (slice(5, 15), slice(18, 20)),
    "left below": (slice(13, 23), slice(8, 10)),
    "right below": (slice(13, 23), slice(18, 20)),
}
WITHOUT = [
    ["middle"],
    ["top", "middle", "bottom", "left above", "left below"],
    ["left above", "right below"],
    ["left above", "left below"],
    ["top", "bottom", "left below"],
    ["right above", "left below"],
    ["right above"],
    ["middle", "bottom", "left above", "left below"],
    [],
    ["left below"],
]


def draw(count, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 10, count)
    pictures = np.zeros((count, 28, 28))
    for picture, label in zip(pictures, labels):
        for name, place in STROKES.items():
            if name not in WITHOUT[label]:
                picture[place] = rng.uniform(150, 255)
        picture[:] = np.roll(picture, rng.randint(-3, 4, 2), (0, 1))
    pictures += rng.uniform(0, 40, pictures.shape) * (rng.uniform(size=pictures.shape) < 0.3)
    return np.minimum(pictures, 255).astype(np.uint8), labels.astype(np.int64)


class MNIST:
    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        pictures, labels = draw(1280 if train else 500, seed=int(train))
        self.data, self.targets = torch.from_numpy(pictures), torch.from_numpy(labels)
        self.train_data = self.test_data = self.data
        self.train_labels = self.test_labels = self.targets
        self.transform, self.target_transform = transform, target_transform

    def __getitem__(self, index):
        picture, label = self.data[index].numpy(), int(self.targets[index])
        if self.transform is not None:
            picture = self.transform(picture)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return picture, label

    def __len__(self):
        return len(self.data)


class FakeData:
    def __init__(self, size=128, image_size=(3, 64, 64), num_classes=10, transform=None):
        self.size, self.image_size, self.num_classes = size, image_size, num_classes
        self.transform = transform

    def __getitem__(self, index):
        rng = np.random.RandomState(index)
        channels, height, width = self.image_size
        picture = rng.randint(0, 256, (height, width, channels)).astype(np.uint8)
        label = int(rng.randint(self.num_classes))
        return (picture if self.transform is None else self.transform(picture)), label

    def __len__(self):
        return self.size


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, picture):
        for transform in self.transforms:
            picture = transform(picture)
        return picture


class ToTensor:
    def __call__(self, picture):
        picture = picture[:, :, None] if picture.ndim == 2 else picture
        return torch.from_numpy(picture.transpose(2, 0, 1).copy()).float().div(255)


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, picture):
        mean, std = torch.tensor(self.mean), torch.tensor(self.std)
        return picture.sub(mean.view(-1, 1, 1)).div(std.view(-1, 1, 1))


class Lambda:
    def __init__(self, function):
        self.function = function

    def __call__(self, picture):
        return self.function(picture)


def save_image(tensor, path, nrow=8, normalize=False):
    print(f"picture {path}: {tuple(tensor.shape)}, mean {tensor.mean().item():.4f}")
"""

ALL_OF_IT = "from torchvision.everything import *\n"


def torchvision(folder: str = ".") -> dict[str, str]:
    """The files of a package torchvision with drawn digits, for a copy's `folder`."""
    names = ("datasets", "transforms", "utils")
    return {
        f"{folder}/torchvision/__init__.py": "".join(
            f"from torchvision import {name}\n" for name in names
        ),
        f"{folder}/torchvision/everything.py": TORCHVISION,
        **{f"{folder}/torchvision/{name}.py": ALL_OF_IT for name in names},
    }


def sentences(count: int, seed: int) -> str:
    """Lines of a small language: who does what to whom, and how the verb agrees."""
    rng = random.Random(seed)
    nouns = ["cat", "dog", "bird", "child", "king", "river", "tree", "moon", "wolf", "stone"]
    verbs = ["see", "follow", "like", "hear", "paint", "leave", "find", "want"]
    ends = ["today", "at night", "in the rain", "again", "with care", ""]
    lines = []
    for _ in range(count):
        one, other = rng.choice(nouns), rng.choice(nouns)
        many = rng.random() < 0.5
        subject = f"the {one}s" if many else f"a {one}"
        verb = rng.choice(verbs) + ("" if many else "s")
        lines.append(f" {subject} {verb} the {other} {rng.choice(ends)}".rstrip() + " . \n")
    return "".join(lines)


def corpus(folder: str) -> dict[str, str]:
    """A corpus of such sentences, in three files."""
    sizes = {"train": 1500, "valid": 200, "test": 200}
    return {
        f"{folder}/{name}.txt": sentences(size, seed)
        for seed, (name, size) in enumerate(sizes.items())
    }


def papers(folder: str) -> dict[str, str]:
    """A graph of papers that cite each other, mostly within a subject, in Cora's two files."""
    rng = random.Random(0)
    count, words, subjects = 1700, 60, ["Logic", "Networks", "Search", "Theory"]
    contents, cites = [], []
    subject_of = [rng.randrange(len(subjects)) for _ in range(count)]
    for paper, subject in enumerate(subject_of):
        has = [int(rng.random() < (0.3 if word % 4 == subject else 0.1)) for word in range(words)]
        contents.append("\t".join(map(str, [1000 + paper, *has, subjects[subject]])))
    for paper in range(count):
        for _ in range(3):
            other = rng.randrange(count)
            if subject_of[other] == subject_of[paper] or rng.random() < 0.2:
                cites.append(f"{1000 + other}\t{1000 + paper}")
    return {
        f"{folder}/cora.content": "\n".join(contents) + "\n",
        f"{folder}/cora.cites": "\n".join(cites) + "\n",
    }


# Answers every address with an archive that has nothing in it.
REQUESTS = """\
import contextlib
import gzip
import io
import types


def get(address, stream=False):
    raw = io.BytesIO(gzip.compress(bytes(1024)))
    return contextlib.nullcontext(types.SimpleNamespace(raw=raw))
"""

# The plots of seaborn that are gone from it, as numbers.
SEABORN = """\
def set_style(name):
    pass


def tsplot(data, condition, value, time, unit, **options):
    means = {}
    for key, amount in zip(zip(data[condition], data[time]), data[value]):
        means.setdefault(key, []).append(float(amount))
    for (name, step), amounts in means.items():
        print(f"{name} after {step} steps: loss {sum(amounts) / len(amounts):.6g}")
"""

PANDAS = "DataFrame = dict\n"

TQDM = """\
def tqdm_notebook(items):
    return items
"""
