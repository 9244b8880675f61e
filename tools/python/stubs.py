"""Writes _dma.pyi, the type hints of the compiled module, from the signatures that pybind11 puts into its docstrings.

    python3 stubs.py build/python/dma/_dma.*.so build/python/dma/_dma.pyi
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

HEAD = '''"""What the compiled half offers. Arrays come back as float64. Written by tools/python/stubs.py."""

from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union, overload

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_Variable = Union[Variable, str]
_End = Union[Variable, Connection]
_Sweeps = Union[Schedule, str]
_ByVariable = Union[dict[Variable, Any], dict[str, Any]]
_Epoch = Callable[[int, int, float, float], object]
__version__: str

class Error(ValueError): ...
class Contradiction(Error): ...
'''

# Arguments that the compiled module takes as any object and looks at itself, by their names; or by function and name.
TAKEN = {
    "variable": "_Variable", "seen": "_Variable", "factor": "Union[Factor, str]", "registry": "Optional[Registry]",
    "unobserved": "Sequence[_Variable]", "predicted": "Sequence[_Variable]", "may_be_missing": "Sequence[_Variable]",
    "variables": "Sequence[_Variable]", "causes": "Sequence[_Variable]", "targets": "Sequence[Any]",
    "result": "Union[None, str, Variable]", "schedule": "_Sweeps", "predict": "_Sweeps", "on_epoch": "Optional[_Epoch]",
    "compile.schedule": "Union[Schedule, Joint, Exact, TreeReweighted, str]", "fit.callback": "Optional[_Epoch]",
    "run.callback": "Optional[Callable[[Report], object]]", "factor.connections": "Any", "certificate.variable": "Optional[_Variable]",
    "covariance.a": "_Variable", "covariance.b": "_Variable", "Rated.a": "int", "compare_with_joint.values": "_ByVariable",
    "compare_with_exact.values": "_ByVariable", "Learner.values": "_ByVariable", "mean.variable": "_Variable",
    "graph_text.graph": "Union[Graph, ParsedGraph]",
}  # fmt: skip
RETURNED = {"__iter__": "Iterator[str]", "_repr_svg_": "Optional[str]", "_repr_html_": "str", "copy": "State", "__copy__": "State",
            "skill": "tuple[float, float]", "chances": "tuple[float, float, float]"}  # fmt: skip
PLOT = "def plot(self, ax: Any = None, names: Optional[Sequence[str]] = None) -> Any: ..."
ATTRIBUTES = {"Kind": ["function: Callable[..., Any]", "made_by: tuple[Callable[..., Kind], tuple[Any, ...]]"],  # in factors.py
              **{name: [PLOT] for name in ("Belief", "LinearFit", "MarkovDecoded", "Smoothed", "Switched")}, "Mixture": ["def plot(self, X: npt.ArrayLike, ax: Any = None) -> Any: ..."]}  # in plots.py  # fmt: skip
SPECIAL = ("__init__", "__len__", "__getitem__", "__contains__", "__iter__", "__float__", "__copy__", "__and__", "__mul__",
           "__rmul__", "__add__", "__radd__", "__sub__", "__rsub__", "__neg__", "__truediv__", "__rtruediv__", "__pow__", "_repr_svg_",
           "_repr_html_")  # fmt: skip
LITERAL = re.compile(r"-?[0-9.e+-]+|None|True|False|'[^'\\]*'")


def parts(text: str) -> list[str]:
    """The texts between the commas outside of brackets."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return [part.strip() for part in found if part.strip()]


def hint(type_: str, taken: bool) -> str:
    """A type of pybind11 as one of Python: what is taken may be more than what is returned."""
    type_ = re.sub(r"\bdma::(?:python::)?(\w+?)(?:Handle)?\b", r"\1", type_)  # types that are bound later
    type_ = re.sub(r"\[\d+\]", "", type_)  # an array of so many
    type_ = re.sub(r"->", "~", re.sub(r"\b(dma\.)?_dma\.", "", type_))
    type_ = re.sub(r"numpy\.ndarray\[(?:[^][]|\[[^]]*\])*\]", "npt.ArrayLike" if taken else "_Floats", type_)
    type_ = re.sub(r"\b(handle|object)\b", "Any", type_)
    type_ = re.sub(r"\b(Callable\[)\[(.*?)\] ~", r"\1[\2],", type_).replace("function", "Callable[..., Any]")
    for name, other in (("List", "Sequence" if taken else "list"), ("Dict", "Mapping" if taken else "dict"), ("Tuple", "tuple")):
        type_ = re.sub(rf"\b{name}\b", other, type_)
    for name, inside in (("dict", "Any, Any"), ("list", "Any"), ("tuple", "Any, ...")):
        type_ = re.sub(rf"\b{name}\b(?!\[)", f"{name}[{inside}]", type_)
    return type_ if "~" not in type_ else "Any"


def signature(line: str, scope: str) -> str:
    """name(self: ..., x: ...) -> ... as a line of the stub."""
    name, _, rest = line.partition("(")
    inside, _, result = rest.rpartition(") -> ")
    arguments = []
    for part in parts(inside):
        if part.startswith("**") or part == "*" or part == "*args":
            arguments.append(part if part == "*" else f"{part}: {'npt.ArrayLike' if part.startswith('**') else 'Any'}")
            continue
        argument, _, described = part.partition(": ")
        type_, _, default = described.partition(" = ")
        known = TAKEN.get(f"{name}.{argument}") or TAKEN.get(f"{scope}.{argument}") or TAKEN.get(argument)
        type_ = known if known and re.search(r"\b(object|function)\b", type_) else hint(type_, True)
        value = default if LITERAL.fullmatch(default) else "..."
        arguments.append("self" if argument == "self" else f"{argument}: {type_}" + (f" = {value}" if default else ""))
    return f"def {name}({', '.join(arguments)}) -> {RETURNED.get(name) or hint(result, False)}: ..."


def functions(doc: str, scope: str) -> list[str]:
    lines = doc.strip().splitlines()
    if len(lines) > 1 and lines[1].startswith("Overloaded"):
        numbered = [line.partition(". ")[2] for line in lines if re.match(r"\d+\. \w+\(", line)]
        return ["@overload\n" + signature(line, scope) for line in numbered]
    return [signature(lines[0], scope)]


def indented(lines: list[str]) -> str:
    return "".join("    " + line.replace("\n", "\n    ") + "\n" for line in lines)


def class_(type_: type) -> str:
    lines = list(ATTRIBUTES.get(type_.__name__, []))
    for name, member in vars(type_).items():
        if name in [line.partition(":")[0] for line in lines] or (name.startswith("_") and name not in SPECIAL):
            continue
        if isinstance(member, property):
            result = hint((member.fget.__doc__ or "").splitlines()[0].rpartition("-> ")[2], False)
            lines += [f"{name}: {result}"] if member.fset else [f"@property\ndef {name}(self) -> {result}: ..."]
            continue
        static = "@staticmethod\n" if isinstance(member, staticmethod) else ""
        if (doc := inspect.getdoc(getattr(type_, name))) and "(" in doc and name != "__init__" or (doc and "self:" in doc):
            lines += [static + line for line in functions(doc or "", type_.__name__)]
    bases = [base.__name__ for base in type_.__bases__ if base.__name__ != "pybind11_object"]
    head = f"\nclass {type_.__name__}{'(' + ', '.join(bases) + ')' if bases else ''}:"
    return f"{head}\n{indented(lines)}" if lines else f"{head} ...\n"


def stub(module: ModuleType) -> str:
    text = HEAD
    for name, value in vars(module).items():
        if name.startswith("_") or name in ("Error", "Contradiction"):
            continue
        if isinstance(value, type):
            text += class_(value)
        else:
            text += "\n".join(functions(inspect.getdoc(value) or "", "")) + "\n"
    return text


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("_dma", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(stub(load(Path(sys.argv[1]))), encoding="utf-8")
