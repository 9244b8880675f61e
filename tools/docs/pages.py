"""Puts together what Sphinx cannot read by itself: pages of the gallery from its programs, and of the references.

    tools/docs/pages.py build/site_source        (tools/docs/build calls it)
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
# Installed because others include them, but nobody calls what is in them.
HELPERS = re.compile(r"engine/(support/(mostly_empty|on_demand|short_list|text)|kinds/(call|chain|incidence|linear_view|message_loop|port_set)"
                     r"|messages/(any_natural|arrays|change))\.h|factors/authoring/dual\.h")  # fmt: skip
DOXYGEN = """INPUT = headers
RECURSIVE = YES
STRIP_FROM_PATH = headers
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
JAVADOC_AUTOBRIEF = YES
AUTOLINK_SUPPORT = NO
QUIET = YES
WARN_LOGFILE = doxygen.log
EXCLUDE_SYMBOLS = dma::detail* *Impl fmt::* std::*
"""


def run_program(path: Path) -> str:
    """The output of a program."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(path), run_name="__main__")
    return printed.getvalue()


def gallery(folder: Path) -> None:
    """NAME.md: the docstring of NAME.py, its picture, its code and what it prints."""
    os.chdir(folder.parents[2])  # programs read tools/examples/data, and write their picture here
    for program in sorted(folder.glob("*.py")):
        _, text, code = program.read_text().split('"""', 2)
        printed = run_program(program)
        Path(f"{program.stem}.svg").rename(program.with_suffix(".svg"))
        page = f"{text}\n![{program.stem}]({program.stem}.svg)\n\n```python\n{code.strip()}\n```\n\n```text\n{printed}```\n"
        program.with_suffix(".md").write_text(f"# {page}")
    contents = folder.parent / "gallery.md"
    text = re.sub(r"\(gallery/(\w+)\.py\)", r"(gallery/\1.md)", contents.read_text())
    names = "\n".join(f"gallery/{name}" for name in re.findall(r"\(gallery/(\w+)\.md\)", text))
    contents.write_text(f"{text}\n```{{toctree}}\n:hidden:\n{names}\n```\n")


def public_headers() -> list[str]:
    """The headers that are installed (tools/build/install.cmake), without helpers."""
    found = ["models/public/dma.h", "models/public/dma_models.h"]
    for header in found:
        found += [one for one in re.findall(r'^#include "([^"]+)"', (SOURCE / header).read_text(), re.M) if one not in found]
    return sorted(one for one in found if not HELPERS.fullmatch(one))


def for_doxygen(lines: list[str]) -> list[str]:
    """Comments as Doxygen wants them: /// before a declaration, ///< behind one and on the lines that go on below it.

    A comment is that of all overloads that follow it at once.
    """
    staged: list[str] = []
    comment: list[str] = []  # above the declaration of `name`, which stood in the line before
    name, behind = "", 0
    for line in lines:
        line = re.sub(r" = {\.[^}]*}(?=[);,])", " = {}", line)  # Sphinx cannot read designated initialisers
        code, mark, said = line.partition("//")
        before = code.rstrip()
        own = re.search(r"(\w+)\(", before)
        if not mark or code.count('"') % 2 or said.startswith(" NOLINT"):
            if own and own[1] == name and comment:
                staged += comment
            elif not own and not before.startswith("    "):
                comment = []
            name = own[1] if own else name
            staged.append(line)
            behind = 0
        elif not before:
            behind = behind if len(code) == behind else 0
            if behind:
                staged.append(f"{code}///<{said}")
            else:
                comment, name = ([*comment, f"{code}///{said}"] if staged and staged[-1].lstrip().startswith("///") else [f"{code}///{said}"]), ""
                staged.append(comment[-1])
        elif before.endswith((";", ",", "}")) and before != "}" or re.fullmatch(r"\s+\w+( = [^()]*)?", before):
            staged.append(f"{code}///<{said}")
            behind, comment = len(code), []
        elif before.endswith("{"):
            staged += [f"///{said}", before]
            behind, comment = 0, []
        else:
            staged.append(line)
            behind, comment = 0, []
    return staged


def header_page(header: str, about: list[str]) -> str:
    """The comment at the top of a header, its code in fences, and all that Doxygen knows of it."""
    page, is_code = ["---", "orphan: true", "---", f"# {header}", ""], False
    for line in [line[2:] for line in about]:
        if line.startswith("  ") != is_code:
            page.append("```" if is_code else "```{code-block} cpp\n:force:\n")
            is_code = not is_code
        page.append(line[2:] if is_code else re.sub(r"([*_<\[`])", r"\\\1", line[1:]))
    return "\n".join([*page, "```" if is_code else "", f"```{{doxygenfile}} {header}", "```", ""])


def cpp_reference(folder: Path) -> None:
    pages = []
    for header in public_headers():
        lines = (SOURCE / header).read_text().splitlines()
        first = next(i for i, line in enumerate(lines) if not line.startswith("//"))
        for path, text in (
            (folder / "headers" / header, ["/// \\file", *for_doxygen(lines[first:])]),
            (folder / "reference" / f"{header}.md", [header_page(header, lines[:first])]),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(text) + "\n")
        about = " ".join(line[3:] for line in lines[:first] if line[:4] != "//  ")
        sentence = re.sub(r"([*_<\[`|])", r"\\\1", re.split(r"\.(?: |$)", re.sub(r"^\w+/: ", "", about))[0])
        pages.append(f"| [{header}]({header}.md) | {sentence[0].upper()}{sentence[1:]}. |")
    (folder / "headers/dma.h").write_text("/// \\namespace dma\n/// All names of the library.\n")
    (folder / "doxygen.conf").write_text(DOXYGEN)
    (folder / "reference/cpp.md").write_text(
        "# C++ reference\n\nThe headers that `<dma.h>` and `<dma_models.h>` include. \n\n| header | what it has |\n|---|---|\n"
        + "\n".join(pages) + "\n"
    )  # fmt: skip


def python_reference(folder: Path) -> None:
    import dma

    pages: dict[str, list[str]] = {"Graphs and solvers": [], "Factors of one's own": [], "Models": [], "Tables": []}
    for name in dma.__all__:
        thing = getattr(dma, name)
        module = thing.__module__.removeprefix("dma.")
        where = {"_dma": "Graphs and solvers", "dma": "Graphs and solvers", "factors": "Factors of one's own", "models": "Models", "series": "Models"}
        directive = "autoclass" if isinstance(thing, type) else "autofunction"
        members = [":members:", ":undoc-members:", ":inherited-members: BaseEstimator, RegressorMixin, ClassifierMixin, ValueError"] if directive == "autoclass" else []
        pages[where.get(module, "Tables")] += [f".. {directive}:: dma.{name}", *(f"   {one}" for one in members), ""]
    names = []
    for title, lines in pages.items():
        names.append("python_" + title.split()[0].lower())
        (folder / f"reference/{names[-1]}.rst").write_text("\n".join([title, "=" * len(title), "", *lines]))
    contents = ["Python reference", "================", "", "`import dma`; :doc:`/tools/docs/python` is the guide.", "", ".. toctree::", ""]
    (folder / "reference/python.rst").write_text("\n".join([*contents, *(f"   {name}" for name in names), ""]))


if __name__ == "__main__":
    staged = Path(sys.argv[1]).resolve()
    cpp_reference(staged)
    python_reference(staged)
    gallery(staged / "tools/docs/gallery")
