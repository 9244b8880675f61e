"""Factors and likelihoods written as Python functions.

    @dma.factor
    def softplus(x):
        "y = log(1 + e^x)"
        return math.log1p(math.exp(x))

    @dma.likelihood(scale=dma.above(0))
    def laplace(x, y, *, scale):
        return -abs(y - x) / scale

The arguments by position are the ports, the keyword-only ones parameters: a default makes one optional, and the decorator
says which numbers it may take (any finite one, if it says nothing). The result is a Kind, for ``compile(..., kinds=[...])``,
``Registry.add`` and ``certify``; the function stays within reach as ``kind.function``. An exception in it comes out of the call that
was running; but OverflowError is how Python says infinity, and means a point outside of the function's domain.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Union, overload

from . import _dma

Function = Callable[..., float]
Decorator = Callable[[Function], _dma.Kind]

_MOST_INPUTS = 3


def _arguments(name: str, function: Callable[..., Any], domains: dict[str, _dma.Domain]) -> tuple[list[str], list[Any]]:
    """The names of the ports; name, domain and default of every parameter."""
    ports: list[str] = []
    parameters: list[Any] = []
    if not callable(function):
        raise _dma.Error(f"{name}: {function!r} is given; a function is expected")
    try:
        signature = inspect.signature(function)
    except ValueError:  # a function of C that does not tell
        raise _dma.Error(f"{name}: the names of its arguments are not known; wrap it, as in lambda x: {name}(x)") from None
    for argument in signature.parameters.values():
        if argument.kind is argument.KEYWORD_ONLY:
            default = None if argument.default is argument.empty else float(argument.default)
            parameters.append((argument.name, domains.get(argument.name, _dma.finite()), default))
        elif argument.kind in (argument.POSITIONAL_ONLY, argument.POSITIONAL_OR_KEYWORD):
            ports.append(argument.name)
        else:
            raise _dma.Error(f"{name}: *{argument.name} is no port; every port has an argument of its own")
    unknown = [given for given in domains if given not in [parameter[0] for parameter in parameters]]
    if unknown:
        raise _dma.Error(f"{name}: a domain is given for '{unknown[0]}', which is no keyword-only argument of the function")
    return ports, parameters


def _name(function: Function) -> str:
    return str(getattr(function, "__name__", repr(function)))


def _summary(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").split("\n")[0]


def _remembered(
    kind: _dma.Kind, function: Callable[..., Any], maker: Callable[..., _dma.Kind], given: tuple[Any, ...], domains: dict[str, _dma.Domain]
) -> _dma.Kind:
    """The kind with its function, and how a pickle makes it again."""
    kind.function = function
    kind.made_by = (partial(maker, **domains), given)
    return kind


def factor_from_function(name: str, function: Function, summary: str = "", **domains: _dma.Domain) -> _dma.Kind:
    """y = function(x, ...) of one to three inputs: forward messages by quadrature, backward ones by linearisation."""
    inputs, parameters = _arguments(name, function, domains)
    if not 1 <= len(inputs) <= _MOST_INPUTS:
        raise _dma.Error(f"{name}: a function of {len(inputs)} inputs is given; 1 to {_MOST_INPUTS} are expected")
    kind = _dma.factor_from_function(name, inputs, function, summary or _summary(function), parameters)
    return _remembered(kind, function, factor_from_function, (name, function, summary), domains)


def factor_from_vector_function(
    name: str, inputs: int, outputs: int, function: Callable[..., Any], summary: str = "", **domains: _dma.Domain
) -> _dma.Kind:
    """y1, y2, ... = function(x) of an array of any number of inputs, for ``dma.joint()``: it has no messages.

    Ports: x, which takes all inputs, and y1, y2, ... (y if there is one, or if there are more than 7).
    """
    arguments, parameters = _arguments(name, function, domains)
    if len(arguments) != 1:
        raise _dma.Error(f"{name}: a function of {len(arguments)} arguments is given; one is expected, the array of its inputs")
    kind = _dma.factor_from_vector_function(name, inputs, outputs, function, summary or _summary(function), parameters)
    return _remembered(kind, function, factor_from_vector_function, (name, inputs, outputs, function, summary), domains)


def likelihood_from_log_density(name: str, function: Function, summary: str = "", **domains: _dma.Domain) -> _dma.Kind:
    """log p(y | x, ...) = function(x, ..., y): messages by expectation propagation; the last port is what is observed."""
    ports, parameters = _arguments(name, function, domains)
    if not 2 <= len(ports) <= _MOST_INPUTS + 1:
        raise _dma.Error(f"{name}: a log density of {len(ports)} arguments is given; 1 to {_MOST_INPUTS} inputs and y are expected")
    kind = _dma.factor_from_log_density(name, ports, len(ports) - 1, function, summary or _summary(function), parameters)
    return _remembered(kind, function, likelihood_from_log_density, (name, function, summary), domains)


@overload
def factor(function: Function) -> _dma.Kind: ...
@overload
def factor(function: None = None, **domains: _dma.Domain) -> Decorator: ...
def factor(function: Union[Function, None] = None, **domains: _dma.Domain) -> Union[_dma.Kind, Decorator]:
    """A decorator: the kind of factor that a function is, under its name."""

    def make(given: Function) -> _dma.Kind:
        return factor_from_function(_name(given), given, "", **domains)

    return make if function is None else make(function)


@overload
def likelihood(function: Function) -> _dma.Kind: ...
@overload
def likelihood(function: None = None, **domains: _dma.Domain) -> Decorator: ...
def likelihood(function: Union[Function, None] = None, **domains: _dma.Domain) -> Union[_dma.Kind, Decorator]:
    """A decorator: the likelihood that a log density is, under its name."""

    def make(given: Function) -> _dma.Kind:
        return likelihood_from_log_density(_name(given), given, "", **domains)

    return make if function is None else make(function)
