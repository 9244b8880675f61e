"""Where the sources can be changed, and into what: operators, constants and conditions."""

import hashlib
import re

# A pattern of code as clang-format writes it (spaces around binary operators tell them from pointers, references and
# template brackets), and what may stand there instead.
CHANGES = [
    (r"(?<= )\+(?= )", ["-"]),
    (r"(?<= )-(?= )", ["+"]),
    (r"(?<= )\*(?= )", ["/"]),
    (r"(?<= )/(?= )", ["*"]),
    (r"(?<= )\+=(?= )", ["-="]),
    (r"(?<= )-=(?= )", ["+="]),
    (r"(?<= )\*=(?= )", ["/="]),
    (r"(?<= )/=(?= )", ["*="]),
    (r"(?<= )<(?= )", ["<=", ">"]),
    (r"(?<= )>(?= )", [">=", "<"]),
    (r"(?<= )<=(?= )", ["<"]),
    (r"(?<= )>=(?= )", [">"]),
    (r"(?<= )==(?= )", ["!="]),
    (r"(?<= )!=(?= )", ["=="]),
    (r"(?<= )&&(?= )", ["||"]),
    (r"(?<= )\|\|(?= )", ["&&"]),
    (r"(?<=[(,=] )-(?=[\w(])|(?<=[(\[])-(?=[\w(])|(?<=return )-(?=[\w(])", [""]),
    (r"(?<![\w!])!(?=[\w(])", [""]),
    (r"\bif \((?=[^;{}]*\)\s)", ["if (!"]),
    (r"\btrue\b", ["false"]),
    (r"\bfalse\b", ["true"]),
    (r"\bstd::min\b", ["std::max"]),
    (r"\bstd::max\b", ["std::min"]),
    (r"(?<![\w.'])\d+\.\d+(?:e-?\d+)?(?![\w.'])", ["*2", "*0.5"]),
    (r"(?<![\w.'\[-])\d+(?![\w.'\]])", ["+1"]),
]

COMMENTS = r"//[^\n]*|/\*.*?\*/"
LITERALS = r"\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])'"


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    """The text with comments, literals of text and lines of the preprocessor overwritten: same length, same lines."""
    pattern = rf"(?P<literal>{LITERALS})|{COMMENTS}|^[ \t]*#[^\n]*|\b(?:static_assert|template)\b[^\n]*"
    return re.sub(pattern, lambda match: "_" * len(match.group()) if match["literal"] else blank(match), text, flags=re.S | re.M)


def without_comments(text):
    pattern = rf"(?P<literal>{LITERALS})|{COMMENTS}"
    return re.sub(pattern, lambda match: match.group() if match["literal"] else blank(match), text, flags=re.S)


def replacement(found, new):
    if re.fullmatch(r"0\.0+", found):
        return "1.0"
    if new in ("+1", "*2", "*0.5"):
        return f"({found} {new[0]} {new[1:]})"
    return new


def closing(code, start):
    """Where the bracket that opens at code[start] is closed."""
    depth = 0
    for i in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i
    return None


def changes_of(path, text):
    """Every change of a file: where (for people and for the list of verdicts), and start, end and new text of what is replaced."""
    code = code_of(text)
    lines = text.split("\n")
    for pattern, options in CHANGES:
        for match in re.finditer(pattern, code):
            for new in options:
                start, end = match.span()
                if new == "if (!":  # if (a < b) -> if (!(a < b))
                    start, end = end, closing(code, end - 1)
                    if end is None or ";" in code[start:end]:
                        continue
                    found, put = "if", f"!({text[start:end]})"
                else:
                    found, put = match.group(), replacement(match.group(), new)
                line = text.count("\n", 0, match.start())
                column = match.start() - (text.rfind("\n", 0, match.start()) + 1)
                after = (text[:start] + put + text[end:]).split("\n")[line].strip()
                site = {"file": path, "line": line + 1, "column": column, "before": lines[line].strip(), "after": after}
                yield site, {"start": start, "end": end, "put": put, "found": found}


def key_of(site):
    return (site["file"], site["before"], site["after"], site["column"])


def number_of(site, seed):
    """Switches a change on, and is its place in the draw."""
    return int(hashlib.sha256(repr((seed, key_of(site))).encode()).hexdigest()[:7], 16)
