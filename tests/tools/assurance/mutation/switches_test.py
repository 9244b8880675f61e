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


OPERATORS = ["*", "+", "+=", "&&", "==", "if", "std::min", "2.0"]


def found():
    return [change for _, change in changes.changes_of("program.cpp", PROGRAM)]


def first(operator):
    return next(change for change in found() if change["found"] == operator)


def versions():
    """The program as it is, with all switches, and by operator: with the change itself, with a switch of number 7."""
    texts = [PROGRAM, switches.with_switches(PROGRAM, list(enumerate(found())))[0]]
    for change in map(first, OPERATORS):
        texts.append(PROGRAM[:change["start"]] + change["put"] + PROGRAM[change["end"]:])
        texts.append(switches.with_switches(PROGRAM, [(7, change)])[0])
    return texts


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What a text of versions() prints. Headers are most of what there is to compile: one program has all texts."""
    folder = tmp_path_factory.mktemp("versions")
    source, program, header = folder / "program.cpp", folder / "program", folder / "switch.h"
    header.write_text(switches.HEADER)
    texts, all_texts, calls = versions(), "#include <cstdlib>\n", ""
    all_texts += "".join(line + "\n" for line in PROGRAM.splitlines() if line.startswith("#include"))
    for number, text in enumerate(texts):
        assert "int main() {" in text
        body = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#include"))
        all_texts += f"namespace version{number} {{\n{body.replace('int main() {', 'void run() {')}}}\n"
        calls += f"  if (number == {number}) version{number}::run();\n"
    all_texts += "int main(int, char** given) {\n  const int number = std::atoi(given[1]);\n" + calls + "}\n"
    source.write_text(all_texts)
    subprocess.run(["c++", "-std=c++20", "-w", "-include", str(header), str(source), "-o", str(program)], check=True)

    def run(text, **variables):
        """A program that does not end is stopped."""
        try:
            command = [str(program), str(texts.index(text))]
            done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, timeout=5)
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            return "does not end"

    return run


def test_nothing_in_text_or_comments_is_changed():
    code = changes.code_of(PROGRAM)
    assert len(code) == len(PROGRAM) and code.count("\n") == PROGRAM.count("\n")
    assert all(PROGRAM[change["start"]:change["end"]] not in ("'+'", '"comments"') for change in found())
    assert "comments" not in code and "a + b" not in code


def test_without_a_number_the_program_is_as_it_was(printed):
    text, lines = switches.with_switches(PROGRAM, list(enumerate(found())))
    assert len(lines) >= 12 and text != PROGRAM
    assert printed(text) == printed(PROGRAM)
    assert printed(PROGRAM)[0] == 0 and printed(PROGRAM)[1].startswith(b"a + b + 13 ")


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_switched_change_equals_the_change(printed, operator):
    change, unchanged = first(operator), printed(PROGRAM)
    text, lines = switches.with_switches(PROGRAM, [(7, change)])
    assert list(lines) == [7]
    direct = PROGRAM[:change["start"]] + change["put"] + PROGRAM[change["end"]:]
    expected = printed(direct)
    assert expected != unchanged
    assert printed(text, DMA_MUTANT="7") == expected
    assert printed(text, DMA_MUTANT="8") == unchanged


def test_changes_of_one_expression_are_not_switched_together():
    both = [change for change in found() if change["found"] in ("*", "+")]
    _, lines = switches.with_switches(PROGRAM, list(enumerate(both)))
    assert list(lines) == [0]
