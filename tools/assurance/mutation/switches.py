"""Many changes in one build: the expression around each becomes (mutant_is_on(7) ? (changed) : (as it was)), and the environment
variable DMA_MUTANT=7 chooses; the file that DMA_MUTANT_REACHED names is there when the switch was reached. Building takes longer
than testing by far, so one build for all is most of the time saved."""

import re

from changes import code_of, without_comments

# Included before every file. In constants that the compiler computes nothing is ever changed.
HEADER = """#pragma once
#include <cstdio>
#include <cstdlib>
#include <type_traits>
inline int mutant_of_this_process() {
  static const int chosen = [] { const char* text = std::getenv("DMA_MUTANT"); return text ? std::atoi(text) : -1; }();
  return chosen;
}
inline bool mutant_was_reached() {
  static const bool told = [] {
    const char* path = std::getenv("DMA_MUTANT_REACHED");
    if (std::FILE* file = path ? std::fopen(path, "w") : nullptr) std::fclose(file);
    return true;
  }();
  return told;
}
constexpr bool mutant_is_on(int which) {
  return !std::is_constant_evaluated() && mutant_of_this_process() == which && mutant_was_reached();
}
"""

SWITCH = "mutant_is_on"

# What an expression does not reach across, to either side.
STOPS = r"[;,?]|(?<!:):(?!:)|(?<![=<>!])=(?!=)|<<|>>|\b(?:return|else|case|throw|do|co_return)\b|\}\s*\n"
LOGICAL = r"&&|\|\|"


def expression_around(code, start, end, logical):
    """The smallest piece around code[start:end] that can stand in brackets."""
    stops = STOPS if logical else f"{STOPS}|{LOGICAL}"
    left, depth = start, 0
    tokens = rf"{stops}|[(\[{{)\]}}]"
    offset = max(0, start - 2000)
    for match in reversed(list(re.finditer(tokens, code[offset:start]))):
        token = match.group()
        if depth == 0 and re.fullmatch(stops, token, re.S):
            left = offset + match.end()
            break
        if token[0] in ")]}":
            depth += 1
        elif token in "([{":
            if depth == 0:
                left = offset + match.end()
                break
            depth -= 1
    else:
        return None
    depth = 0
    for match in re.finditer(tokens, code[end:end + 2000]):
        token = match.group()
        if token in "([{":
            depth += 1
        elif depth == 0:
            right = end + match.start()
            if re.match(r"\s*[-+*/%&|^]?=(?!=)", code[right - 1:]) and token == "=":
                return None  # the left side of an assignment
            return trimmed(code, left, right)
        elif token[0] in ")]}":
            depth -= 1
    return None


def trimmed(code, left, right):
    while left < right and code[left].isspace():
        left += 1
    while right > left and code[right - 1].isspace():
        right -= 1
    return (left, right) if left < right else None


def region_of(code, change):
    """What has to be written twice for this change, or None."""
    found, start, end = change["found"], change["start"], change["end"]
    if found == "if":
        return start, end
    if found in ("+=", "-=", "*=", "/="):  # a whole statement
        left = max(code.rfind(stop, 0, start) for stop in ";{}") + 1
        right = code.find(";", end)
        region = trimmed(code, left, right)
        if region is None:
            return None
        statement = code[region[0]:region[1]]
        whole = statement.count("(") == statement.count(")") and not re.search(r"[{}]|\b(?:if|for|while|else)\b", statement)
        return region if whole else None
    return expression_around(code, start, end, found in ("&&", "||"))


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def with_switches(text, numbered):
    """The text with the changes (number, change) built in, and for every number the lines it may be to blame for. Those that
    cannot be told apart in one text are left out."""
    code, plain = code_of(text), without_comments(text)
    taken, pieces = [], {}
    for number, change in numbered:
        region = region_of(code, change)
        if region is None or any(region[0] < end and start < region[1] for start, end in taken):
            continue
        left, right = region
        was = plain[left:right]
        now = plain[left:change["start"]] + change["put"] + plain[change["end"]:right]
        now = now.replace("\n", " ")
        if change["found"] in ("+=", "-=", "*=", "/="):
            piece = f"if ({SWITCH}({number})) {now}; else {was}"
        elif change["found"] in ("if", "!"):
            piece = f"({SWITCH}({number}) ? static_cast<bool>({now}) : static_cast<bool>({was}))"
        else:
            piece = f"({SWITCH}({number}) ? ({now}) : ({was}))"
        taken.append(region)
        pieces[number] = (left, right, piece)
    for left, right, piece in sorted(pieces.values(), reverse=True):
        text = text[:left] + piece + text[right:]
    lines = {number: (line_of(code, left), line_of(code, right)) for number, (left, right, _) in pieces.items()}
    return text, lines
