"""tools/assurance/mutate: a change behind a switch does what the change itself does."""

import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.environ["DMA_SOURCE_DIR"], "tools", "assurance", "mutation"))
import changes
import switches

PROGRAM = """
#include <algorithm>
#include <cstdio>
struct Scale { double by = 2.0; };
double area(double width, double height) { return width * height + 1.0; }
int sign(double x) {
  if (x < 0 && x > -100) return -1;  // "comments" keep their + and * operators
  return x == 0 ? 0 : 1;
}
double total(const double* x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
  }
  return sum;
}
int main() {
  const double x[] = {1, 2, 4};
  const char plus = '+';
  std::printf("a + b %c %g %d %d %g %g\\n", plus, area(3, 4), sign(-2), sign(5), total(x, 3), Scale{}.by);
  std::printf("%g\\n", std::min(area(1, 3), total(x, 2)));
}
"""


def printed(folder, text, **variables):
    """What the program prints; None when it does not compile. A program that does not end is stopped."""
    source, program = folder / "program.cpp", folder / "program"
    source.write_text(text)
    (folder / "switch.h").write_text(switches.HEADER)
    command = ["c++", "-std=c++20", "-w", "-include", str(folder / "switch.h"), str(source), "-o", str(program)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        return None
    return run(program, **variables)


def run(program, **variables):
    try:
        done = subprocess.run([str(program)], env={**os.environ, **variables}, capture_output=True, timeout=5)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return "does not end"


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    return printed(tmp_path_factory.mktemp("unchanged"), PROGRAM)


def found():
    return [change for _, change in changes.changes_of("program.cpp", PROGRAM)]


def test_nothing_in_text_or_comments_is_changed():
    code = changes.code_of(PROGRAM)
    assert len(code) == len(PROGRAM) and code.count("\n") == PROGRAM.count("\n")
    assert all(PROGRAM[change["start"]:change["end"]] not in ("'+'", '"comments"') for change in found())
    assert "comments" not in code and "a + b" not in code


def test_without_a_number_the_program_is_as_it_was(tmp_path, unchanged):
    text, lines = switches.with_switches(PROGRAM, list(enumerate(found())))
    assert len(lines) >= 12 and text != PROGRAM
    assert printed(tmp_path, text) == unchanged


@pytest.mark.parametrize("operator", ["*", "+", "+=", "&&", "==", "if", "std::min", "2.0"])
def test_a_switched_change_equals_the_change(tmp_path, unchanged, operator):
    change = next(change for change in found() if change["found"] == operator)
    text, lines = switches.with_switches(PROGRAM, [(7, change)])
    assert list(lines) == [7]
    direct = PROGRAM[:change["start"]] + change["put"] + PROGRAM[change["end"]:]
    expected = printed(tmp_path, direct)
    assert expected != unchanged
    assert printed(tmp_path, text, DMA_MUTANT="7") == expected
    assert run(tmp_path / "program", DMA_MUTANT="8") == unchanged


def test_changes_of_one_expression_are_not_switched_together():
    both = [change for change in found() if change["found"] in ("*", "+")]
    _, lines = switches.with_switches(PROGRAM, list(enumerate(both)))
    assert list(lines) == [0]
