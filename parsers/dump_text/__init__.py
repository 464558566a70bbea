"""kafka-dump-log text, every release's shape, to the same rows as the segment reader."""

from __future__ import annotations

from parsers.dump_text.dumped_file import DumpedFile, dumped_file
from parsers.dump_text.grammar import told_before_contents
from parsers.dump_text.output import DumpChunk, Note
from parsers.dump_text.text_reader import read_dump_text
