"""What is said where a function of the compiled half is called with something that it does not take."""

from __future__ import annotations

import difflib
import functools
import numbers
from typing import Any, Callable

from . import _dma

_SIMPLE = {
    "int": (numbers.Integral, "a whole number"),
    "float": (numbers.Real, "a number"),
    "str": (str, "text"),
    "bool": (bool, "True or False"),
    "dict": (dict, "a dictionary"),
    "list": (list, "a list"),
    "tuple": (tuple, "a tuple"),
}


def _inside(text: str, opening: str, closing: str) -> list[str]:
    """What stands between the first bracket and its other half, apart where commas stand outside of all others."""
    depth, parts, quoted = 0, [""], ""
    for c in text[text.index(opening) :]:
        if quoted or c in "'\"":
            quoted = "" if c == quoted else quoted or c
        elif c in "([{<":
            depth += 1
            if depth == 1:
                continue
        elif c in ")]}>":
            depth -= 1
            if depth == 0:
                break
        elif c == "," and depth == 1:
            parts.append("")
            continue
        parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def _expected(kind: str) -> tuple[Any, str]:
    """A function that tells whether a value is of this kind, and the kind in words."""
    if kind in _SIMPLE:
        type_, words = _SIMPLE[kind]
        return (lambda value: isinstance(value, type_)), words
    if kind.startswith("Optional["):
        fits, words = _expected(_inside(kind, "[", "]")[0])
        return (lambda value: value is None or fits(value)), f"{words} or None"
    if kind.startswith("List["):
        inner, words = _expected(_inside(kind, "[", "]")[0])
        return (lambda value: _is_list(value) and all(inner(one) for one in value)), f"a list, of {words} each"
    if kind.startswith("Dict["):
        return (lambda value: isinstance(value, dict)), "a dictionary"
    if kind.startswith("numpy.ndarray"):
        return _is_numbers, "an array of numbers"
    if kind.startswith("dma._dma."):
        name = kind.removeprefix("dma._dma.")
        return (lambda value: isinstance(value, getattr(_dma, name))), f"a dma.{name}"
    return (lambda value: True), "something else"


def _is_list(value: Any) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes, dict))


def _is_numbers(value: Any) -> bool:
    import numpy as np

    try:
        return bool(np.asarray(value).dtype.kind in "biuf")
    except ValueError:
        return False


def refusal(doc: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> str:
    """One line: the first thing that does not fit the signature, which is the first line of `doc`."""
    signature = doc.splitlines()[0]
    name = signature[: signature.index("(")]
    kinds: dict[str, str] = {}
    needed, in_order, by_name_only = [], [], False
    for part in _inside(signature, "(", ")"):
        if part.startswith("*"):
            by_name_only = True
            continue
        parameter, _, kind = part.partition(": ")
        kind, _, default = kind.partition(" = ")
        kinds[parameter] = kind
        if not by_name_only:
            in_order.append(parameter)
        if not default:
            needed.append(parameter)
    if name == "__init__":
        name = kinds["self"].removeprefix("dma._dma.")
    shown_in_order = [parameter for parameter in in_order if parameter != "self"]
    for key in named:
        if key not in kinds and "**" not in signature:
            near = difflib.get_close_matches(key, kinds, 1)
            meant = f"; did you mean '{near[0]}'?" if near else ";"
            return f"{name}: there is no argument '{key}'{meant} known: {', '.join(p for p in kinds if p != 'self')}"
    if len(arguments) > len(in_order):
        given = len(arguments) - len(in_order) + len(shown_in_order)
        expected = ", ".join(shown_in_order) or "none"
        return f"{name}: {given} arguments are given without a name; at most {len(shown_in_order)} are expected: {expected}"
    given_by_name = {**dict(zip(in_order, arguments)), **named}
    for parameter in needed:
        if parameter not in given_by_name:
            return f"{name}: '{parameter}' is not given; {name}({', '.join(p for p in needed if p != 'self')}) is expected"
    for parameter, value in given_by_name.items():
        fits, words = _expected(kinds.get(parameter, ""))
        if not fits(value):
            return f"{name}: {parameter} is {_dma.shown(value)}; {words} is expected"
    for parameter, value in given_by_name.items():
        if kinds.get(parameter) == "int" and value < 0:
            return f"{name}: {parameter} is {value}; 0 or more is expected"
    shown = ", ".join(f"{p} = {_dma.shown(value)}" for p, value in given_by_name.items() if p != "self")
    return f"{name}: {shown} is given; {signature.replace('dma._dma.', 'dma.')} is expected"


def _in_our_words(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def asked(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except TypeError as error:  # of the binding, not of somebody's function that it calls
            if not str(error).startswith(f"{function.__name__}(): incompatible"):
                raise
            words = refusal(function.__doc__ or "", arguments, named)
        raise TypeError(words)

    return asked


def _say_so_everywhere() -> None:
    """Every function of the compiled half, and every method of its classes, refuses in our words from here on."""
    for scope in (_dma, *(value for value in vars(_dma).values() if isinstance(value, type))):
        for name, value in list(vars(scope).items()):
            is_compiled = type(value).__name__ in ("builtin_function_or_method", "instancemethod")
            is_ours = name == "__init__" or not name.startswith("_")
            if is_compiled and is_ours and "Overloaded" not in (value.__doc__ or "Overloaded"):
                setattr(scope, name, _in_our_words(value))


_say_so_everywhere()
