"""Train MiniGPT on the grammar: does it conjugate verbs in persons and tenses it never saw?

    minitorch run examples/minigpt/train.py

An ordinary PyTorch program; `python train.py` with PyTorch prints the same numbers.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

import torch
from model import LENGTH, VOCABULARY, MiniGPT
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sentences import END, NUMBER, PAD, TOKENS, english, forms_in, spanish, split, text_of, variants


def encode(sentences: list[list[str]]):
    """Sentences as numbers, filled up to one length: (count, LENGTH)."""
    rows = [[NUMBER[t] for t in s] + [NUMBER[PAD]] * (LENGTH - len(s)) for s in sentences]
    return torch.tensor(rows)


def decode(row: list[int]) -> list[str]:
    tokens = [TOKENS[number] if number < len(TOKENS) else "?" for number in row]
    return tokens[: tokens.index(END)] if END in tokens else tokens


def conjugated(model: MiniGPT, cells: list) -> tuple[float, float, list[list[str]]]:
    """The share of cells whose English, and whose Spanish form the model writes correctly."""
    start = torch.tensor([[NUMBER[f"<{part}>"] for part in cell] for cell in cells])
    written = [decode(row) for row in model.complete(start, LENGTH - 4).tolist()]
    found = [forms_in(tokens[3:]) for tokens in written]
    right_en = sum(f[0] == english(*cell) for f, cell in zip(found, cells, strict=True))
    right_es = sum(f[1] == spanish(*cell) for f, cell in zip(found, cells, strict=True))
    return right_en / len(cells), right_es / len(cells), written


def baseline(train: list, held_out: list) -> tuple[float, float]:
    """The shares for whom answers with the verb's form of another person in the same tense."""
    right = [0, 0]
    for verb, person, tense in held_out:
        others = [c for c in train if c[0] == verb and c[2] == tense and c[1] != person]
        others += [c for c in train if c[0] == verb]
        for place, form in enumerate((english, spanish)):
            right[place] += form(*others[0]) == form(verb, person, tense)
    return right[0] / len(held_out), right[1] / len(held_out)


def main() -> None:  # noqa: PLR0915 - the program, from top to bottom
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None, help="folder for model.pt and results")
    args = parser.parse_args()

    console = Console()
    began = time.perf_counter()
    torch.manual_seed(args.seed)
    train_cells, held_out = split(args.seed)
    train = encode([sentence for cell in train_cells for sentence in variants(cell)])
    held = encode([sentence for cell in held_out for sentence in variants(cell)])
    model = MiniGPT(args.dropout)
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
        lr=args.lr,
        betas=(0.9, 0.95),
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.steps)
    console.print(
        f"MiniGPT: {sum(p.numel() for p in model.parameters()):,} parameters, "
        f"{len(TOKENS)} tokens of {VOCABULARY}; {len(train)} sentences of {len(train_cells)} "
        f"cells, {len(held_out)} cells held out"
    )

    losses = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("MiniGPT", total=args.steps, loss="")
        for step in range(args.steps):
            rows = torch.randint(len(train), (args.batch,))
            loss = model.loss(train[rows])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            if step % 100 == 0 or step == args.steps - 1:
                model.eval()
                with torch.no_grad():
                    val = model.loss(held).item()
                model.train()
                bar.update(task, advance=0, loss=f"loss {losses[-1]:.3f}, held out {val:.3f}")
                if not console.is_terminal:
                    console.print(f"  step {step:4d}: loss {losses[-1]:.4f}, held out {val:.4f}")
            bar.update(task, advance=1)

    en, es, written = conjugated(model, held_out)
    base_en, base_es = baseline(train_cells, held_out)
    console.print("Held-out cells, as the model writes them:")
    for tokens in random.Random(args.seed).sample(written, 6):
        console.print(f"  {text_of(tokens)}", markup=False, highlight=False)
    console.print(
        f"Held-out forms conjugated correctly: English {en:.1%}, Spanish {es:.1%} "
        f"(another person's form of the same tense: {base_en:.1%} and {base_es:.1%})"
    )
    seconds = time.perf_counter() - began
    console.print(f"{args.steps} steps in {seconds:.1f} s")
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        torch.save(model.state_dict(), args.out / "minigpt.pt")
        results = {
            "loss": losses[-1],
            "held_out_loss": val,
            "english": en,
            "spanish": es,
            "baseline": {"english": base_en, "spanish": base_es},
            "seconds": round(seconds, 1),
        }
        (args.out / "minigpt.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
