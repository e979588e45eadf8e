"""Where to put the boxes of a graph: columns, an order in each column, and heights.

Boxes and arrows only, nothing of gradients: any package can draw its graph with this. The method
is Sugiyama's, in three steps. *Layering*: each box goes one column before its nearest user, and an
edge that spans several columns gets a waypoint in each. *Ordering*: columns are sorted, back and
forth, by the mean height of their neighbours, which untangles edges. *Placement*: each box moves
as close to its neighbours as the boxes above and below allow.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

Point = tuple[float, float]

SWEEPS = 12
WAYPOINTS = 20_000


class Layout(NamedTuple):
    """Centres of the boxes, the way of each edge (its corner points), and the picture's size.

    A route is level wherever it passes a column, and turns only between columns: it cuts no box.
    Long edges of one source share their way like a railway line. The farthest has its route from
    the source on, the others from the junction on: every piece is drawn once.
    """

    positions: list[Point]
    routes: list[list[Point]]
    width: float
    height: float
    direction: Literal["right", "down"] = "right"

    def path(self, edge: int) -> str:
        """The route of `edges[edge]` as SVG path data: straight when level, else an S-bend."""
        (x, y), *rest = self.routes[edge]
        parts = [f"M{x:.1f} {y:.1f}"]
        for to_x, to_y in rest:
            if self.direction == "right":
                level, turn = y == to_y, (x + to_x) / 2
                bend = f"{turn:.1f} {y:.1f} {turn:.1f} {to_y:.1f}"
            else:
                level, turn = x == to_x, (y + to_y) / 2
                bend = f"{x:.1f} {turn:.1f} {to_x:.1f} {turn:.1f}"
            parts.append(f"L{to_x:.1f} {to_y:.1f}" if level else f"C{bend} {to_x:.1f} {to_y:.1f}")
            x, y = to_x, to_y
        return "".join(parts)


def layered(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    *,
    column_gap: float = 44.0,
    box_gap: float = 14.0,
    margin: float = 16.0,
    direction: Literal["right", "down"] = "right",
) -> Layout:
    """Lay out boxes of the given `(width, height)`; an edge `(i, j)` points from box i to box j.

    The same edge may come twice and is then routed twice. The result depends on nothing but the
    arguments. A cycle raises ValueError.

    >>> layout = layered([(40, 20), (40, 20)], [(0, 1)])
    >>> layout.positions
    [(36.0, 26.0), (120.0, 26.0)]
    """
    if direction == "down":
        turned = layered(
            [(h, w) for w, h in sizes],
            edges,
            column_gap=column_gap,
            box_gap=box_gap,
            margin=margin,
        )
        return Layout(
            [(y, x) for x, y in turned.positions],
            [[(y, x) for x, y in route] for route in turned.routes],
            turned.height,
            turned.width,
            "down",
        )
    column_of = _columns(len(sizes), edges)
    grid = _Grid(sizes, edges, column_of, box_gap)
    grid.untangle()
    return grid.finish(edges, column_gap, margin)


def _columns(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The column of each box: as far right as its users allow, the longest path away from them."""
    sources: list[list[int]] = [[] for _ in range(count)]
    users = [0] * count
    for source, target in edges:
        sources[target].append(source)
        users[source] += 1
    order = [box for box in range(count) if users[box] == 0]
    distance = [0] * count
    for box in order:  # grows while it is read
        for source in sources[box]:
            distance[source] = max(distance[source], distance[box] + 1)
            users[source] -= 1
            if users[source] == 0:
                order.append(source)
    if len(order) < count:
        stuck = next(box for box in range(count) if users[box])
        raise ValueError(f"the edges have a cycle, at or after box {stuck}: nothing comes first")
    last = max(distance, default=0)
    return [last - d for d in distance]


class _Grid:
    """Boxes and waypoints in their columns. A waypoint is a box without a size."""

    def __init__(
        self,
        sizes: Sequence[tuple[float, float]],
        edges: Sequence[tuple[int, int]],
        column_of: list[int],
        box_gap: float,
    ):
        self.sizes = list(sizes)
        self.boxes = len(sizes)
        self.column_of = list(column_of)
        self.box_gap = box_gap
        self.before: list[list[int]] = [[] for _ in sizes]
        self.after: list[list[int]] = [[] for _ in sizes]
        self.way: dict[int, list[int]] = {}
        self._add_waypoints(edges)
        for source, target in edges:
            stop = self.stops(source, target)[-1]
            if self.column_of[stop] + 1 == self.column_of[target]:
                self._join(stop, target)
        degrees = [len(b) + len(a) for b, a in zip(self.before, self.after, strict=True)]
        self.pendant = [degree == 1 for degree in degrees]
        self.y = [0.0] * len(self.sizes)
        self.columns: list[list[int]] = [[] for _ in range(max(self.column_of, default=-1) + 1)]
        for box in self._first_order():
            self.columns[self.column_of[box]].append(box)
        self._stack()

    def stops(self, source: int, target: int) -> list[int]:
        """The source and the waypoints that an edge passes on its way to the target."""
        between = self.column_of[target] - self.column_of[source] - 1
        return [source, *self.way.get(source, [])[:between]]

    def _add_waypoints(self, edges: Sequence[tuple[int, int]]) -> None:
        """One row of waypoints per source: its edges share it and leave it one by one.

        The rows of a very long graph would outnumber its boxes by far. Beyond a limit the longest
        are left out, and those edges run straight, behind the boxes.
        """
        reach = [0] * self.boxes
        for source, target in edges:
            span = self.column_of[target] - self.column_of[source] - 1
            reach[source] = max(reach[source], span)
        left = WAYPOINTS
        for source in sorted(range(self.boxes), key=reach.__getitem__):
            left -= reach[source]
            if left < 0:
                break
            stop = source
            self.way[source] = []
            first = self.column_of[source] + 1
            for column in range(first, first + reach[source]):
                waypoint = len(self.sizes)
                self.sizes.append((0.0, 0.0))
                self.column_of.append(column)
                self.before.append([])
                self.after.append([])
                self._join(stop, waypoint)
                self.way[source].append(waypoint)
                stop = waypoint

    def _join(self, left: int, right: int) -> None:
        self.after[left].append(right)
        self.before[right].append(left)

    def _first_order(self) -> list[int]:
        """Depth first from the last column: a tree comes out without a crossing."""
        order: list[int] = []
        seen = [False] * len(self.sizes)
        ends = sorted(range(len(self.sizes)), key=self.column_of.__getitem__, reverse=True)
        for end in ends:
            stack = [end]
            while stack:
                box = stack.pop()
                if not seen[box]:
                    seen[box] = True
                    order.append(box)
                    stack.extend(reversed(self.before[box]))
        return order

    def _stack(self) -> None:
        for column in self.columns:
            self._place(column, [0.0] * len(column))

    def _gap(self, above: int, below: int) -> float:
        """How far apart two neighbours of a column must be, centre to centre."""
        heights = self.sizes[above][1] + self.sizes[below][1]
        return heights / 2 + (self.box_gap if heights else self.box_gap / 2)

    def _place(self, column: list[int], wanted: list[float]) -> None:
        """Move the boxes of a column as near to the wanted heights as their order allows.

        Least squares under "each at least a gap below the one above". Measured from where a tight
        stack would put it, that is: a rising sequence as near as possible to the wanted one. Boxes
        that would rise over the one above join it in a block, and a block sits at its mean.
        """
        offsets: list[float] = []
        blocks: list[tuple[float, int]] = []
        offset = 0.0
        for i, box in enumerate(column):
            if i:
                offset += self._gap(column[i - 1], box)
            offsets.append(offset)
            total, count = wanted[i] - offset, 1
            while blocks and blocks[-1][0] * count >= total * blocks[-1][1]:
                more, members = blocks.pop()
                total, count = total + more, count + members
            blocks.append((total, count))
        i = 0
        for total, count in blocks:
            for _ in range(count):
                self.y[column[i]] = total / count + offsets[i]
                i += 1

    def _mean(self, box: int, near: list[int]) -> float:
        return sum([self.y[other] for other in near]) / len(near) if near else self.y[box]

    def _firm(self, box: int, sides: tuple[list[list[int]], ...]) -> list[int]:
        """The neighbours that a box should be level with.

        Waypoints follow waypoints where they can: long edges run level. And nothing follows a box
        that hangs on it alone: a chain with an operand at each link stays a level chain.
        """
        near = [other for side in sides for other in side[box]]
        if box >= self.boxes:
            return [other for other in near if other >= self.boxes] or near
        return [other for other in near if not self.pendant[other]] or near

    def untangle(self) -> None:
        """Order the columns, keep the best order met, then place the boxes in it."""
        best, fewest = [list(column) for column in self.columns], self._crossings()
        for sweep in range(SWEEPS):
            for column, side in self._sweep(sweep):
                wanted = {box: self._mean(box, side[0][box]) for box in column}
                column.sort(key=wanted.__getitem__)
                self._place(column, [wanted[box] for box in column])
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(column) for column in self.columns], crossings
        self.columns = best
        self._stack()
        for sweep in range(SWEEPS):
            for column, side in self._sweep(sweep):
                self._place(column, [self._mean(box, self._firm(box, side)) for box in column])
        both = (self.before, self.after)
        for column in self.columns[::-1]:
            self._place(column, [self._mean(box, self._firm(box, both)) for box in column])

    def _sweep(self, number: int) -> Iterator[tuple[list[int], tuple[list[list[int]], ...]]]:
        """Each column with the side to look at: leftwards first, from the ends of the graph."""
        leftwards = number % 2 == 0
        side = (self.after,) if leftwards else (self.before,)
        return ((column, side) for column in (self.columns[::-1] if leftwards else self.columns))

    def _crossings(self) -> int:
        """How many pairs of edges cross between neighbouring columns."""
        crossings = 0
        for column, following in zip(self.columns, self.columns[1:], strict=False):
            rank = {box: i for i, box in enumerate(following)}
            seen: list[int] = []
            for box in column:
                ends = sorted(rank[other] for other in self.after[box])
                crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
                for end in ends:
                    insort(seen, end)
        return crossings

    def finish(self, edges: Sequence[tuple[int, int]], column_gap: float, margin: float) -> Layout:
        tops = [y - h / 2 for y, (_, h) in zip(self.y, self.sizes, strict=True)]
        lift = margin - min(tops, default=0.0)
        y = [height + lift for height in self.y]
        height = max((at + h / 2 for at, (_, h) in zip(y, self.sizes, strict=True)), default=0.0)

        starts: list[float] = []
        ends: list[float] = []
        x = margin
        for column in self.columns:
            starts.append(x)
            ends.append(x + max(self.sizes[box][0] for box in column))
            # Steep edges need room to turn.
            climb = max((abs(y[a] - y[b]) for a in column for b in self.after[a]), default=0.0)
            x = ends[-1] + column_gap + min(climb / 8, 4 * column_gap)
        center = [(starts[c] + ends[c]) / 2 for c in self.column_of]

        routes: list[list[Point]] = [[] for _ in edges]
        arriving: list[list[tuple[float, int]]] = [[] for _ in range(self.boxes)]
        drawn: set[int] = set()
        farthest_first = sorted(range(len(edges)), key=lambda e: -self.column_of[edges[e][1]])
        for edge in farthest_first:
            source, target = edges[edge]
            stops = self.stops(source, target)
            if stops[-1] in drawn and len(stops) > 1:
                stops = stops[-1:]
            else:
                routes[edge].append((center[source] + self.sizes[source][0] / 2, y[source]))
            for stop in stops:
                if stop not in drawn and stop >= self.boxes:
                    routes[edge].append((starts[self.column_of[stop]], y[stop]))
                routes[edge].append((ends[self.column_of[stop]], y[stop]))
            drawn.update(stops)
            arriving[target].append((y[stops[-1]], edge))
        for target, arrivals in enumerate(arriving):
            w, h = self.sizes[target]
            for i, (_, edge) in enumerate(sorted(arrivals), 1):
                at = y[target] - h / 2 + h * i / (len(arrivals) + 1)
                routes[edge] += [(starts[self.column_of[target]], at), (center[target] - w / 2, at)]
        return Layout(
            [(center[box], y[box]) for box in range(self.boxes)],
            [_corners(route) for route in routes],
            max(ends, default=0.0) + margin,
            height + margin,
        )


def _corners(route: list[Point]) -> list[Point]:
    """The route without points that are met twice or lie on a level line between two others."""
    corners: list[Point] = []
    for x, y in route:
        if len(corners) > 1 and corners[-1][1] == y == corners[-2][1]:
            corners.pop()
        # The widest box of a column ends where the column does, but for rounding.
        if not corners or abs(x - corners[-1][0]) + abs(y - corners[-1][1]) > 1e-6:
            corners.append((x, y))
    return corners
