"""The doctor names what is there, and for everything that is not, what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from auditor.doctor import (
    Check,
    Diagnosis,
    available_cores,
    available_memory,
    check_cache,
    check_java,
    check_kernels,
    check_memory,
    check_package,
    check_python,
    check_spark,
    diagnose,
    installed,
    machine_memory,
    render,
)
from auditor.exit_codes import ExitCode, exit_code_table
from auditor.java import JavaRuntime, JavaSearch, RefusedJava

ROOT = Path(__file__).resolve().parents[2]
JAVA_17 = JavaRuntime(home=Path("/opt/jdk"), version="17.0.15", major=17, origin="PATH")


def test_this_environment_can_run_every_audit_but_for_what_is_named() -> None:
    diagnosis = diagnose()
    assert {check.name for check in diagnosis.checks if check.condition == "missing"} <= {"Java"}
    assert {"Python", "Java", "Spark", "Memory", "Cores", "Cache", "Kernels", "CRC-32C"} <= {
        check.name for check in diagnosis.checks
    }


@pytest.mark.parametrize(
    "check",
    [
        check_python((3, 10)),
        check_spark(None),
        check_spark("3.5.8"),
        check_java(JavaSearch(runtime=None, refused=(RefusedJava(origin="PATH", reason="no java there"),))),
        check_package("polars", None),
    ],
    ids=lambda check: check.name,
)
def test_what_is_missing_comes_with_advice_and_stops_an_audit(check: Check) -> None:
    assert check.condition == "missing"
    assert check.advice
    assert not Diagnosis(checks=(check,)).ready


@pytest.mark.parametrize("check", [check_memory(1 << 30), check_memory(None), check_kernels(None)])
def test_what_is_weak_comes_with_advice_and_stops_nothing(check: Check) -> None:
    assert check.condition == "weak"
    assert check.advice
    assert Diagnosis(checks=(check,)).ready


def test_spark_stands_on_its_floor() -> None:
    assert check_spark("4.0.0").condition == "good"
    assert check_spark("4.1.0.dev1").condition == "good"
    assert check_spark("10.0.0").condition == "good"


def test_an_old_java_that_was_passed_over_is_told_though_another_was_found() -> None:
    old = RefusedJava(origin="JAVA_HOME", reason="/opt/old is Java 11.0.2, older than 17")
    check = check_java(JavaSearch(runtime=JAVA_17, refused=(old,)))
    assert check.condition == "weak"
    assert "11.0.2" in check.advice


def test_a_java_home_that_is_not_set_is_no_one_s_worry() -> None:
    unset = RefusedJava(origin="JAVA_HOME", reason="not set")
    assert check_java(JavaSearch(runtime=JAVA_17, refused=(unset,))).condition == "good"


def test_a_cache_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert check_cache(tmp_path / "file" / "tidemark").condition == "weak"
    assert check_cache(tmp_path / "not" / "yet" / "there").condition == "good"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_relative_cache_folder_is_said_to_be_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert "XDG_CACHE_HOME is ignored, for cache is a relative path" in check_cache(tmp_path).found
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert check_cache(tmp_path).found == str(tmp_path)


def test_a_container_s_share_of_memory_counts(tmp_path: Path) -> None:
    limit, unlimited = tmp_path / "memory.max", tmp_path / "unlimited"
    limit.write_text("1048576\n")
    unlimited.write_text("max\n")
    assert available_memory((limit, unlimited)) == 1 << 20
    assert available_memory((unlimited, tmp_path / "absent")) == machine_memory()


def test_cores_are_those_this_process_may_use() -> None:
    assert 1 <= available_cores() <= (os.cpu_count() or 1)


def test_a_package_that_does_not_exist_is_not_installed() -> None:
    assert installed("no-such-package-here") is None


def test_the_rendered_lines_carry_every_name_and_every_advice() -> None:
    diagnosis = Diagnosis(checks=(Check(name="Cores", found="2"), check_spark("3.5.8")))
    text = render(diagnosis)
    assert all(check.name in text and check.found in text and check.advice in text for check in diagnosis.checks)
    assert text.splitlines()[-1] == "Not every audit can run here; look at: Spark."


def test_diagnosing_loads_neither_spark_nor_great_expectations() -> None:
    program = (
        "import sys\nfrom auditor.doctor import diagnose, render\nrender(diagnose())\n"
        "print([name for name in ('pyspark', 'great_expectations', 'numba') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_the_exit_code_table_has_a_line_for_each_code_and_the_agreed_numbers() -> None:
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 101, 102, 130]
    assert [line.split()[0] for line in exit_code_table().splitlines()] == ["0", "1", "2", "3", "101", "102", "130"]
    assert len({code.meaning for code in ExitCode}) == len(ExitCode)
