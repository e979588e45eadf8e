"""PyTorch's operator database, in full, against the list of what is known not to pass."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import conformance


@pytest.mark.parametrize("number", range(conformance.SHARDS))
@pytest.mark.parametrize("kind", conformance.MEANINGS)
def test_what_passed_still_passes(kind: str, number: int) -> None:
    found, known = conformance.shard(kind, number), conformance.known()[kind]
    fallen = {name: why for name, why in found.items() if name not in known}
    assert not fallen, "these passed before"
    names = map(conformance.database().label, conformance.ops(kind)[number :: conformance.SHARDS])
    risen = [name for name in names if name in known and name not in found]
    assert not risen, "these pass now: run tests/conformance/conformance.py, so that they stay so"


def test_the_page_says_what_is_measured() -> None:
    assert conformance.PAGE.read_text() == conformance.page(conformance.known())


def test_no_known_failure_is_of_an_op_that_is_not_measured() -> None:
    for kind, failing in conformance.known().items():
        labels = set(map(conformance.database().label, conformance.ops(kind)))
        assert failing.keys() <= labels


def test_what_is_required_is_reached() -> None:
    # The tiers that are promised in full, and those that are promised in part.
    opdb, failing = conformance.database(), conformance.known()["gradients"]
    for tier, share in {
        "core": 1,
        "nn": 1,
        "linalg": 0.95,
        "special": 0.95,
        "fft": 0.95,
        "other": 0.6,
    }.items():
        labels = [opdb.label(op) for op in conformance.ops("gradients") if opdb.tier_of(op) == tier]
        passed = sum(name not in failing for name in labels)
        assert passed >= share * len(labels), tier


def test_a_wrong_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself can fail."""
    import minitorch.torch as mt

    op = next(op for op in conformance.ops("gradients") if op.name == "exp")
    assert conformance.failures_of("gradients", op) == ""
    monkeypatch.setattr(mt, "exp", lambda x: mt.exp2(x) * 1.5)
    assert "forward-mismatch" in conformance.failures_of("gradients", op)
    monkeypatch.delattr(mt, "exp")
    assert "missing" in conformance.failures_of("gradients", op)
