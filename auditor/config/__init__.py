"""What a run was asked to do, from flags, environment and file, in one frozen value."""

from auditor.config.checks import merge
from auditor.config.error import ConfigError
from auditor.config.settings import AuditConfig, EngineName, newer_than_known
from auditor.config.sources import environment, read_config, settings_text
