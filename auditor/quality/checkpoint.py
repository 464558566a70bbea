"""Suites run as checkpoints over Spark DataFrames: a table's suite first, then what failed once more with addresses."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from great_expectations import Checkpoint, ExpectationSuite, RunIdentifier, ValidationDefinition, get_context
from great_expectations.core.batch_definition import BatchDefinition
from great_expectations.core.expectation_validation_result import ExpectationValidationResult
from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext
from great_expectations.data_context.types.base import ProgressBarsConfig
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from auditor.quality.frames import in_order
from auditor.quality.outcome import ExpectationResult, TableOutcome
from auditor.quality.plan import ADDRESS, Expected, TablePlan
from auditor.quality.suite import NAME, suite_of
from parsers.provenance import Span

ADDRESSES: Final = 20
"""Failing rows whose addresses are told, an expectation."""

ONLY_WHETHER: Final[Mapping[str, Any]] = {"result_format": "BOOLEAN_ONLY"}
WHERE: Final[Mapping[str, Any]] = {
    "result_format": "SUMMARY",
    "partial_unexpected_count": ADDRESSES,
    "unexpected_index_column_names": list(ADDRESS),
    # Addresses tell where to look; values may be what people stored.
    "exclude_unexpected_values": True,
    "return_unexpected_index_query": False,
}
_MAY_COALESCE: Final = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


class Quality:
    """Great Expectations for one run: a context in memory that keeps nothing and tells nobody."""

    def __init__(self) -> None:
        logging.getLogger("great_expectations").setLevel(logging.ERROR)
        self.context: EphemeralDataContext = get_context(mode="ephemeral")
        self.context.variables.progress_bars = ProgressBarsConfig(globally=False)
        self._source = self.context.data_sources.add_spark("dump", persist=False)
        self._run = RunIdentifier(run_name="tidemark", run_time=datetime.now(UTC))

    def validate(self, plan: TablePlan, frame: DataFrame) -> TableOutcome:
        """Run a table's suite, and what failed of it once more for the addresses."""
        kept = _kept(frame)
        try:
            rows = kept.count()
            found = self._check(plan.table, plan.expected, kept, ONLY_WHETHER)
            failed = [outcome.expected for outcome in found if outcome.verdict == "failed"]
            if failed:
                located = self._check(f"{plan.table}-failed", failed, in_order(kept), WHERE)
                again = {outcome.expected.name: outcome for outcome in located if outcome.verdict == "failed"}
                found = [again.get(outcome.expected.name, outcome) for outcome in found]
        finally:
            kept.unpersist()
        return TableOutcome(table=plan.table, rows=rows, outcomes=tuple(found))

    def _check(
        self, name: str, expected: Sequence[Expected], frame: DataFrame, result_format: Mapping[str, Any]
    ) -> list[ExpectationResult]:
        checkpoint = self._checkpoint(name, suite_of(name, expected), result_format)
        answer = checkpoint.run(batch_parameters={"dataframe": frame}, run_id=self._run)
        (validation,) = answer.run_results.values()
        results = {_name(result): result for result in validation.results}
        return [_outcome(one, results.get(one.name)) for one in expected]

    def _checkpoint(self, name: str, suite: ExpectationSuite, result_format: Mapping[str, Any]) -> Checkpoint:
        definition = ValidationDefinition(name=name, data=self._rows(name), suite=self.context.suites.add(suite))
        checked = self.context.validation_definitions.add(definition)
        checkpoint = Checkpoint(name=name, validation_definitions=[checked], result_format=dict(result_format))
        return self.context.checkpoints.add(checkpoint)

    def _rows(self, name: str) -> BatchDefinition[Any]:
        return self._source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("rows")


def _kept(frame: DataFrame) -> DataFrame:
    """The frame, to be read once and then kept, in as many partitions as its rows deserve.

    Left to itself Spark keeps a shuffled frame in all its shuffle partitions, which is hundreds for a dozen rows.
    """
    settings = frame.sparkSession.conf
    before = settings.get(_MAY_COALESCE, "false")
    settings.set(_MAY_COALESCE, "true")
    try:
        return frame.persist(StorageLevel.MEMORY_AND_DISK)
    finally:
        settings.set(_MAY_COALESCE, before or "false")


def _name(result: ExpectationValidationResult) -> str | None:
    meta = result.expectation_config.meta if result.expectation_config else None
    return meta.get(NAME) if meta else None


def _outcome(expected: Expected, result: ExpectationValidationResult | None) -> ExpectationResult:
    if result is None:
        return ExpectationResult(expected=expected, verdict="not evaluated", reason="no result was given")
    reason = _raised(result.exception_info or {})
    if reason is not None:
        return ExpectationResult(expected=expected, verdict="not evaluated", reason=reason)
    if result.success:
        return ExpectationResult(expected=expected, verdict="met")
    detail = result.result
    return ExpectationResult(
        expected=expected,
        verdict="failed",
        unexpected=detail.get("unexpected_count"),
        addresses=_addresses(detail.get("partial_unexpected_index_list") or []),
    )


def _raised(info: Mapping[str, Any]) -> str | None:
    """The first sentence of what an expectation raised; it tells of one failure, or of one a metric."""
    raised = [info] if "raised_exception" in info else [part for part in info.values() if isinstance(part, Mapping)]
    for part in raised:
        if part.get("raised_exception"):
            return str(part.get("exception_message") or "an exception").strip().splitlines()[0]
    return None


def _addresses(found: Sequence[Mapping[str, Sequence[Any]]]) -> tuple[Span, ...]:
    """Addresses as spans; they come as columns."""
    spans = [
        Span(source=str(source), start=int(start), end=int(end))
        for part in found
        for source, start, end in zip(*(part[name] for name in ADDRESS), strict=True)
    ]
    return tuple(sorted(spans, key=lambda span: (span.source, span.start, span.end)))
