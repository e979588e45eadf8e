"""Nobody finds half a file."""

import os
from pathlib import Path

import pytest

from minitorch.demo.files import prepare_folder, write_atomically


def test_text_and_bytes_arrive(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", "é\n")
    write_atomically(tmp_path / "b", b"\x00\xff")
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa9\n"
    assert (tmp_path / "b").read_bytes() == b"\x00\xff"


def test_an_older_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a longer text that was there before")
    write_atomically(path, "new")
    assert path.read_text() == "new"


def test_a_failed_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="modes are a matter of POSIX")
def test_a_result_is_as_readable_as_any_new_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", "x")
    (tmp_path / "b").write_text("x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_prepare_folder_makes_it_and_leaves_nothing_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    prepare_folder(folder)
    prepare_folder(folder)
    assert list(folder.iterdir()) == []


def test_prepare_folder_refuses_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(OSError, match="exists"):
        prepare_folder(tmp_path / "a")
