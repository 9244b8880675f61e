"""Programs and commands of the pages besides those that tests/tools/docs/docs_test.cpp compiles and runs: Python runs, graphs can be read,
commands exist, and paths lead somewhere. tests/tools/docs/site_test.py builds the site."""

from __future__ import annotations

import functools
import inspect
import operator
import os
import re
import shlex
import subprocess
import textwrap
from pathlib import Path

import dma
import numpy as np
import pytest
from conftest import run_dma

SOURCE = Path(os.environ["DMA_SOURCE_DIR"])
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "tools/docs").glob("*.md"))]


def fences(language: str) -> list[tuple[str, str]]:
    """Name of the page and text of every block in that language."""
    pattern = re.compile(rf"^ *```{language}\n(.*?)^ *```$", flags=re.MULTILINE | re.DOTALL)
    return [(page.name, textwrap.dedent(found)) for page in PAGES for found in pattern.findall(page.read_text())]


def inline(pattern: str) -> list[str]:
    """Texts between backquotes that begin so."""
    spans = [" ".join(span.split()) for page in PAGES for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", page.read_text())]
    return [span for span in spans if re.match(pattern, span)]


def words_of(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def shell_commands() -> list[list[str]]:
    """The words of every command in blocks of shell: apart where && or | stand between them, without what is redirected."""
    commands: list[list[str]] = []
    for _, block in fences("sh"):
        lines = block.splitlines()
        while lines:
            line = lines.pop(0)
            while lines and line.count("'") % 2:  # a quotation over several lines
                line += "\n" + lines.pop(0)
            current: list[str] = []
            for word in [*words_of(line), "&&"]:
                if word in ("&&", "|", ";", ">"):
                    commands.append(current)
                    current = []
                elif word != "time":
                    current.append(word)
    return [command for command in commands if command]


@functools.cache
def help_of(program: str, *command: str) -> str:
    return run_dma(*command, "--help", program=program)


def check_command(line: str) -> None:
    """Every command and every option of a line is one that its --help lists."""
    program, *words = words_of(line)
    command: list[str] = [program.removeprefix("build/")]
    while words and "SUBCOMMAND" in help_of(*command) and not words[0].startswith("-"):
        assert re.search(rf"^  {re.escape(words[0])} ", help_of(*command), flags=re.MULTILINE), f"{line}: no command {words[0]}"
        command.append(words.pop(0))
    known = set(re.findall(r"--[a-z][-a-z]*", help_of(*command)))
    for word in words:
        if word.startswith("--"):
            assert word.split("=")[0] in known, f"{line}: {' '.join(command)} has no option {word}"


def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools").symlink_to(SOURCE / "tools")  # files that the pages read
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 2))
    given = {"X": X, "y": X[:, 0] + 0.1 * random.normal(size=40), "X_new": X[:5], "X_more": X[:9], "y_more": X[:9, 0]}
    found = fences("python")
    assert found
    for page, snippet in found:
        exec(compile(snippet, page, "exec"), dict(given))


def says_something(thing: object) -> bool:
    """Beyond the signature that pybind11 writes, or those of overloads."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    return any(line.strip() and not re.match(r"(\d+\. )?\w+\(.*\) -> |Overloaded", line) for line in lines)


def test_every_public_function_and_class_has_a_sentence() -> None:
    silent = []
    for name in dma.__all__:
        members = vars(thing) if isinstance(thing := getattr(dma, name), type) else {}
        called = [f"{name}.{member}" for member in members if not member.startswith("_") and callable(getattr(thing, member))]
        silent += [one for one in [name, *called] if not says_something(operator.attrgetter(one)(dma))]
    assert not silent


def test_graphs_in_json_can_be_read_and_solved() -> None:
    found = fences("json")
    assert found
    for _, text in found:
        read = dma.parse_graph(text)
        state = dma.State(plan := dma.compile(read.graph, dma.joint()))
        for variable, values in read.observations.items():
            state.observe(variable, values)
        assert "exact" in repr(dma.run(plan, state))


def test_commands_and_options_exist() -> None:
    shown = [shlex.join(words) for words in shell_commands()]
    lines = [line for line in [*shown, *inline(r"(build/)?dma(-lab)? [a-z]")] if re.match(r"(build/)?dma(-lab)? ", line)]
    assert len(lines) > 20
    for line in lines:
        check_command(line)


def test_examples_of_the_help_name_options_that_exist() -> None:
    for program, least in ("dma", 10), ("dma-lab", 5):
        names = re.findall(r"^  ([a-z]+) ", help_of(program).split("Subcommands:")[1].split("Example:")[0], flags=re.MULTILINE)
        assert len(names) >= least
        for name in names:
            examples = re.findall(rf"^  ({program} .*)$", help_of(program, name), flags=re.MULTILINE)
            assert examples, name
            for example in examples:
                check_command(example.split(" | ")[0].split(" > ")[0])


def test_scripts_exist_and_know_their_options() -> None:
    for words in [*shell_commands(), *map(str.split, inline(r"tools/[a-z/]+( |$)"))]:
        if not words[0].startswith("tools/") or (SOURCE / words[0]).is_dir():
            continue
        assert os.access(SOURCE / words[0], os.X_OK), words
        text = (SOURCE / words[0]).read_text()
        for word in words[1:]:
            assert not word.startswith("-") or word in text, words


def test_the_compile_line_of_the_readme_compiles_its_program(tmp_path: Path) -> None:
    (line,) = [line for line in (SOURCE / "README.md").read_text().splitlines() if line.startswith("g++ ")]
    words = [word.replace("-Lbuild", f"-L{os.environ['DMA_BINARY_DIR']}").replace("-O2", "-O0") for word in line.split()]
    subprocess.run([*words[:-1], tmp_path / words[-1]], cwd=SOURCE, check=True)
    assert "0.3734^2" in subprocess.run([tmp_path / words[-1]], capture_output=True, text=True, check=True).stdout


def test_paths_lead_somewhere() -> None:
    paths = inline(r"(engine|factors|schedules|models|tests|tools)/[\w./-]+$")
    assert len(paths) > 40
    for path in paths:
        assert "NAME" in path or (SOURCE / path).exists(), path
