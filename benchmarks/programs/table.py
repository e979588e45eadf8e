"""All programs: each group of rows has a file of its own."""

from language import LANGUAGE
from program import Program
from science import SCIENCE

PROGRAMS: tuple[Program, ...] = (*LANGUAGE, *SCIENCE)
