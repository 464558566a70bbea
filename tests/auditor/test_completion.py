"""Completion of commands and options, asked of the shells themselves as a person at a keyboard does."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from command import run
from dumps_at_hand import ROOT

PATIENCE = 300.0
ASKED = (("adv", "advise"), ("audit --show-s", "--show-settings"), ("timeline --offs", "--offsets"))
BASH = (
    'eval "$(tidemark --show-completion)"; COMP_WORDS=(tidemark {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1));'
    ' _tidemark_completion tidemark; echo "${{COMPREPLY[@]}}"'
)
FISH = "tidemark --show-completion | source; complete -C 'tidemark {words}'"
ZSH = """
autoload -Uz compinit; compinit -u -d {home}/dump
eval "$(tidemark --show-completion)"
PS1='ready> '
"""


def needs(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"no {shell} here: the shell is the referee (apt install {shell})")
    return found


def variables(home: Path) -> dict[str, str]:
    path = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(home), "ZDOTDIR": str(home), "TERM": "dumb"}


@pytest.mark.parametrize(("words", "wanted"), ASKED)
@pytest.mark.parametrize(("shell", "asks"), [("bash", BASH), ("fish", FISH)])
def test_a_shell_offers_what_fits(shell: str, asks: str, words: str, wanted: str, tmp_path: Path) -> None:
    script = tmp_path / "asks"
    script.write_text(asks.format(words=words))
    told = subprocess.run(
        [needs(shell), str(script)], env=variables(tmp_path), capture_output=True, text=True, check=False
    )
    assert [line.split("\t")[0] for line in told.stdout.splitlines()] == [wanted], told.stderr


@pytest.mark.parametrize(("shell", "checks"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_a_shell_that_is_named_gets_its_own_script(shell: str, checks: str, tmp_path: Path) -> None:
    """Whatever shell it is asked from: a person prints the script of one in another."""
    script = run("--show-completion", shell)
    assert script.code == 0
    assert ("complete --command tidemark" in script.out) == (shell == "fish")
    assert ("compdef" in script.out) == (shell == "zsh")
    (tmp_path / "script").write_text(script.out)
    done = subprocess.run([needs(shell), checks, str(tmp_path / "script")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_shell_that_is_not_known_is_refused_with_those_that_are() -> None:
    refused = run("--show-completion", "cmd")
    assert (refused.code, refused.out) == (2, "")
    assert "--show-completion: expected one of bash, zsh, fish, found 'cmd'" in refused.err


def test_completion_is_installed_for_a_shell_that_is_named(tmp_path: Path) -> None:
    installed = run("--install-completion", "fish", HOME=str(tmp_path))
    place = tmp_path / ".config" / "fish" / "completions" / "tidemark.fish"
    assert installed.out == f"Completion for fish is installed in {place}. It begins with the next fish.\n"
    assert place.read_text().rstrip("\n") == run("--show-completion", "fish").out.rstrip("\n")


@pytest.mark.parametrize(("words", "wanted"), ASKED)
def test_zsh_completes_at_the_keyboard(words: str, wanted: str, tmp_path: Path) -> None:
    """Its completion works in an interactive shell alone, so one is started and typed into."""
    zsh = needs("zsh")
    (tmp_path / ".zshrc").write_text(ZSH.format(home=tmp_path))
    typed = f"tidemark {words}"
    process, terminal = pty.fork()
    if process == 0:
        os.execve(zsh, ["zsh", "-i", "-o", "NO_GLOBAL_RCS"], variables(tmp_path))  # noqa: S606 - the shell itself
    try:
        screen = until(terminal, "ready> ")
        os.write(terminal, f"{typed}\t".encode())
        screen = until(terminal, f"{wanted} ")
        assert typed.rpartition(" ")[0] in screen
    finally:
        os.write(terminal, b"\x03")
        os.close(terminal)
        os.waitpid(process, 0)


def until(terminal: int, words: str) -> str:
    """What the terminal shows, up to some words."""
    shown, ends = "", time.monotonic() + PATIENCE
    while words not in shown:
        assert time.monotonic() < ends, shown
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 4096).decode("utf-8", "replace")
    return shown
