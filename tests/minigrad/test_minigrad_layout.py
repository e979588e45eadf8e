"""The layout of any graph: columns in the direction of the arrows, nothing on top of anything."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigrad import layout as layout_module
from minigrad.layout import Layout, layered


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 25))
    side = st.floats(1, 200).map(round)
    sizes = draw(st.lists(st.tuples(side, side), min_size=count, max_size=count))
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    pairs = draw(st.lists(pair.filter(lambda p: p[0] != p[1]), max_size=50))
    return sizes, [(min(p), max(p)) for p in pairs]


def overlap(a, b) -> bool:
    """Whether two boxes, given as (left, top, right, bottom), have more than a border in common."""
    eps = 1e-6
    return a[0] < b[2] - eps and b[0] < a[2] - eps and a[1] < b[3] - eps and b[1] < a[3] - eps


def corners(layout: Layout, sizes):
    return [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        for (x, y), (w, h) in zip(layout.positions, sizes, strict=True)
    ]


@given(graphs())
def test_boxes_do_not_overlap_and_lie_on_the_page(graph) -> None:
    sizes, edges = graph
    layout = layered(sizes, edges)
    rects = corners(layout, sizes)
    assert not any(overlap(a, b) for i, a in enumerate(rects) for b in rects[:i])
    for left, top, right, bottom in rects:
        assert left > 0
        assert top > 0
        assert right < layout.width
        assert bottom < layout.height


@given(graphs())
def test_arrows_point_right_and_cross_no_box(graph) -> None:
    sizes, edges = graph
    layout = layered(sizes, edges)
    rects = corners(layout, sizes)
    for (source, target), route in zip(edges, layout.routes, strict=True):
        assert rects[source][2] < rects[target][0]
        assert route[-1][0] == pytest.approx(rects[target][0])
        assert rects[target][1] < route[-1][1] < rects[target][3]
        for (x0, y0), (x1, y1) in pairwise(route):
            assert x0 < x1
            # A bend stays within the rectangle that its ends span.
            stretch = (x0, min(y0, y1), x1, max(y0, y1))
            assert not any(overlap(stretch, rect) for rect in rects if y0 != y1)
            level = (x0, y0 - 1e-3, x1, y0 + 1e-3)
            assert not any(overlap(level, rect) for rect in rects if y0 == y1)


@given(graphs())
def test_every_route_starts_at_its_source_or_on_its_way(graph) -> None:
    sizes, edges = graph
    layout = layered(sizes, edges)
    rects = corners(layout, sizes)
    for source in range(len(sizes)):
        routes = [r for (s, _), r in zip(edges, layout.routes, strict=True) if s == source]
        if routes:
            x = rects[source][2]
            assert any(r[0] == pytest.approx((x, layout.positions[source][1])) for r in routes)
            assert all(r[0][0] >= x - 1e-6 for r in routes)


@given(graphs())
def test_down_is_right_turned(graph) -> None:
    sizes, edges = graph
    right = layered(sizes, edges)
    down = layered([(h, w) for w, h in sizes], edges, direction="down")
    assert down.positions == [(y, x) for x, y in right.positions]
    assert (down.width, down.height) == (right.height, right.width)
    for route, turned in zip(right.routes, down.routes, strict=True):
        assert turned == [(y, x) for x, y in route]


def test_a_tree_has_no_crossings() -> None:
    edges = [(2 * i + k, i) for i in range(31) for k in (1, 2)]
    layout = layered([(30, 20)] * 63, edges)
    for level in range(1, 6):
        column = range(2**level - 1, 2 ** (level + 1) - 1)
        by_height = sorted(column, key=lambda box: layout.positions[box][1])
        parents = [(box - 1) // 2 for box in by_height]
        heights = [layout.positions[parent][1] for parent in parents]
        assert heights == sorted(heights)


def test_a_crossing_that_can_be_avoided_is_avoided() -> None:
    # Two sources, two targets, each source pointing at the target listed opposite to it.
    layout = layered([(10, 10)] * 5, [(0, 3), (1, 2), (2, 4), (3, 4)])
    y = [at[1] for at in layout.positions]
    assert (y[0] < y[1]) == (y[3] < y[2])


def test_a_chain_is_a_straight_line() -> None:
    layout = layered([(10, 10)] * 20, [(i, i + 1) for i in range(19)])
    assert len({y for _, y in layout.positions}) == 1
    assert layout.path(0).count("C") == 0


def test_the_same_edge_twice_is_two_routes() -> None:
    layout = layered([(10, 10)] * 2, [(0, 1), (0, 1)])
    assert layout.routes[0] != layout.routes[1]
    assert layout.path(0) != layout.path(1)


def test_paths_bend_where_the_direction_says() -> None:
    sizes, edges = [(10.0, 10.0)] * 3, [(0, 2), (1, 2)]
    right, down = layered(sizes, edges), layered(sizes, edges, direction="down")
    (x0, y0), *_, (x1, y1) = right.routes[0]
    assert right.path(0).startswith(f"M{x0:.1f} {y0:.1f}C{(x0 + x1) / 2:.1f} {y0:.1f}")
    (x0, y0), *_, (x1, y1) = down.routes[0]
    assert down.path(0).startswith(f"M{x0:.1f} {y0:.1f}C{x0:.1f} {(y0 + y1) / 2:.1f}")


def test_nothing_and_one_box() -> None:
    assert layered([], []).positions == []
    assert layered([(10, 20)], []) == Layout([(21.0, 26.0)], [], 42.0, 52.0)


@pytest.mark.parametrize("edges", [[(0, 0)], [(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 1)]])
def test_a_cycle_is_refused(edges: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="cycle"):
        layered([(10, 10)] * 3, edges)


def test_beyond_the_limit_of_waypoints_edges_run_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "WAYPOINTS", 3)
    edges = [(i, i + 1) for i in range(9)] + [(0, 9), (2, 5)]
    layout = layered([(10, 10)] * 10, edges)
    assert len(layout.routes[9]) == 2
    assert len(layout.routes[10]) > 2


def test_two_thousand_boxes_are_laid_out_without_overlap() -> None:
    count = 2_000
    edges = [(i, i + 1 + (7 * i) % 13) for i in range(count - 14)] + [(5, count - 1)]
    sizes = [(20.0 + i % 7, 10.0 + i % 5) for i in range(count)]
    layout = layered(sizes, edges)
    columns: dict[float, list[tuple[float, float]]] = {}
    for (x, y), (_, h) in zip(layout.positions, sizes, strict=True):
        columns.setdefault(x, []).append((y - h / 2, y + h / 2))
    for column in columns.values():
        column.sort()
        assert all(a[1] < b[0] for a, b in pairwise(column))
