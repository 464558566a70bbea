"""What the `--describe` options of Kafka's tools print: topics, configs, consumer groups and the metadata quorum."""

from __future__ import annotations

from parsers.describe_text.config_lines import split_settings
from parsers.describe_text.transcripts import parse_describe_text
