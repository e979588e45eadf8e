"""What whole programs do that the tests of single parts do not: small ones, in both libraries."""

import io
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt

LIBRARIES = [pytest.param(torch, id="torch"), pytest.param(mt, id="minitorch")]


def an_encoder(T: Any) -> Any:
    T.manual_seed(0)
    layer = T.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return T.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()


def parts_of_it(T: Any) -> list[Any]:
    layers = T.nn.modules
    return [
        T.nn.functional.relu,
        layers.activation.MultiheadAttention,
        layers.container.ModuleList,
        layers.dropout.Dropout,
        layers.linear.Linear,
        layers.linear.NonDynamicallyQuantizableLinear,
        layers.normalization.LayerNorm,
        layers.transformer.TransformerEncoder,
        layers.transformer.TransformerEncoderLayer,
    ]


@pytest.mark.parametrize("reader", LIBRARIES)
@pytest.mark.parametrize("writer", LIBRARIES)
def test_a_whole_module_loads_when_what_it_is_made_of_is_allowed(writer: Any, reader: Any) -> None:
    # Functions of nn.functional are among its attributes, and torch has some of the same name.
    encoder = an_encoder(writer)
    file = io.BytesIO()
    writer.save(encoder, file)
    x = np.linspace(-1, 1, 2 * 3 * 8, dtype=np.float32).reshape(2, 3, 8)
    file.seek(0)
    with reader.serialization.safe_globals(parts_of_it(reader)):
        again = reader.load(file)
    with reader.no_grad():
        ours = again(reader.from_numpy(x)).numpy()
    with writer.no_grad():
        theirs = encoder(writer.from_numpy(x)).numpy()
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_what_was_not_allowed_stays_refused_beside_what_was() -> None:
    file = io.BytesIO()
    mt.save({"allowed": mt.nn.functional.relu, "not": mt.nn.functional.gelu}, file)
    file.seek(0)
    with (
        mt.serialization.safe_globals([mt.nn.functional.relu]),
        pytest.raises(Exception, match="gelu"),
    ):
        mt.load(file)
