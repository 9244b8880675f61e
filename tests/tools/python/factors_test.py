"""Factors and likelihoods written in Python, against quadrature and against the built-in ones."""

from __future__ import annotations

import gc
import math
from typing import Any

import dma
import numpy as np
import pytest


@dma.factor
def softplus(x: float) -> float:
    """y = log(1 + e^x)"""
    return math.log1p(math.exp(x)) if x < 30 else x


@dma.likelihood(scale=dma.above(0))
def bell(x: float, y: float, *, scale: float = 1.0) -> float:
    """Gaussian noise, as a log density."""
    return -0.5 * ((y - x) / scale) ** 2 - math.log(scale * math.sqrt(2 * math.pi))


def test_a_function_has_the_moments_of_its_values() -> None:
    g = dma.Graph()
    x = g.gaussian_prior(g.variable("x"), 0.3, 0.5)
    y = g.apply("softplus", x)
    state = dma.State(plan := dma.compile(g, kinds=[softplus]))
    dma.run(plan, state)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    values = np.log1p(np.exp(0.3 + math.sqrt(0.5) * nodes))
    weights = weights / weights.sum()
    np.testing.assert_allclose(state.belief(y).mean, weights @ values, rtol=1e-6)
    np.testing.assert_allclose(state.belief(y).variance, weights @ values**2 - (weights @ values) ** 2, rtol=1e-5)


@pytest.mark.parametrize("schedule", [dma.forward_backward(), dma.joint()])
def test_a_log_density_gives_what_the_built_in_noise_gives(schedule: Any) -> None:
    found = []
    for kind, parameters in [("bell", {"scale": 0.5}), ("gaussian_noise", {"variance": 0.25})]:
        g = dma.Graph()
        x, y = g.gaussian_prior(g.variable("x", 3), 0, 1), g.observed("y", 3)
        g.factor(kind, [x, y], **parameters)
        state = dma.State(plan := dma.compile(g, schedule, kinds=[bell], method="ep"))
        state.observe(y, [-1, 0.5, 2])
        dma.run(plan, state)
        found.append((state.belief(x).mean, state.belief(x).variance, dma.log_evidence(plan, state)))
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_several_inputs_parameters_and_lambdas() -> None:
    power = dma.factor_from_function("power", lambda x, *, exponent: abs(x) ** exponent, "y = |x|^exponent", exponent=dma.above(0))
    mixed = dma.factor_from_function("mixed", lambda a, b: a * b)
    assert power.ports == ["x", "y"] and mixed.ports == ["a", "b", "y"] and "exponent in (0" in power.describe()
    g = dma.Graph()
    a, b = g.gaussian_prior(g.variable("a"), 2.0, 0.01), g.gaussian_prior(g.variable("b"), 3.0, 0.01)
    c = g.apply("power", g.apply("mixed", [a, b]), exponent=2.0)
    registry = dma.Registry().add(power).add(mixed)
    assert "mixed" in registry and len(registry) == len(dma.standard_registry()) + 2
    state = dma.State(plan := dma.compile(g, registry=registry))
    del power, mixed, registry
    gc.collect()
    dma.run(plan, state)
    np.testing.assert_allclose(state.belief(c).mean, [36.1301], rtol=1e-3)  # E[a^2] E[b^2]
    g2 = dma.Graph()
    g2.apply("softplus", g2.gaussian_prior(g2.variable("a"), 0, 1), slope=2.0)
    with pytest.raises(dma.Error, match="slope"):
        dma.compile(g2, kinds=[softplus])


def test_certified_by_the_same_call_as_built_in_kinds() -> None:
    mine = dma.certify(bell, "ep", quick=True)
    assert mine.band == "matched" and all(not edge.failures for edge in mine.edges)
    theirs = dma.certify(dma.standard_registry().kind("probit"), "ep", quick=True)
    assert theirs.band == mine.band
    assert dma.certify(softplus, quick=True).band in ("concentrated", "bounded")

    twice = dma.likelihood_from_log_density("twice", lambda x, y: -0.5 * (y - x) ** 2)
    assert "twice (ep)" in repr(dma.certify(twice, quick=True)) and dma.certify(twice, quick=True)._repr_html_()


class Mine(Exception):
    pass


def refuse(x: float) -> float:
    raise Mine(f"not at {x:.3f}")


@pytest.mark.parametrize("schedule", [dma.forward_backward(), dma.flooding(), dma.joint()])
def test_what_a_function_raises_comes_out_of_run_as_it_is(schedule: Any) -> None:
    calls = []

    def sometimes(x: float) -> float:
        calls.append(x)
        if len(calls) == 3:
            raise Mine(f"call {len(calls)}")
        return 2 * x

    g = dma.Graph()
    x = g.gaussian_prior(g.variable("x"), 0, 1)
    y = g.observed("y")
    g.gaussian_noise(g.apply("sometimes", x), 1.0, y)
    state = dma.State(plan := dma.compile(g, schedule, kinds=[dma.factor(sometimes)]))
    state.observe(y, 2.0)
    with pytest.raises(Mine, match="call 3") as error:
        dma.run(plan, state)
    assert error.traceback[-1].name == "sometimes"
    assert dma.run(plan, state).converged  # the state is as good as new
    np.testing.assert_allclose(state.belief(x).mean, [0.8], rtol=1e-6)


def test_what_a_function_raises_comes_out_of_certify_and_evidence() -> None:
    with pytest.raises(Mine, match="not at"):
        dma.certify(dma.factor(refuse), quick=True)


def test_results_that_are_no_numbers() -> None:
    words = dma.factor_from_function("words", lambda x: "three")  # type: ignore[arg-type,return-value]
    g = dma.Graph()
    g.apply("words", g.gaussian_prior(g.variable("x"), 0, 1))
    state = dma.State(plan := dma.compile(g, kinds=[words]))
    with pytest.raises(TypeError, match="real number"):
        dma.run(plan, state)
    nan = dma.factor_from_function("nan", lambda x: float("nan"))
    g = dma.Graph()
    y = g.apply("nan", g.gaussian_prior(g.variable("x"), 0, 1))
    state = dma.State(plan := dma.compile(g, kinds=[nan]))
    dma.run(plan, state)
    assert (state.belief(y).natural == 0).all()  # nothing is known; no NaN comes out


def test_a_result_beyond_all_numbers_is_outside_of_the_domain() -> None:
    with pytest.raises(OverflowError):
        bell.function(1e200, 0.0)  # where C++ has an infinity, Python raises
    g = dma.Graph()
    x, y = g.gaussian_prior(g.variable("x"), 0, 1e300), g.observed("y")
    g.factor("bell", [x, y])
    state = dma.State(plan := dma.compile(g, kinds=[bell], method="ep"))
    state.observe(y, 1.0)
    dma.run(plan, state)
    assert not np.isnan(state.belief(x).mean).any()


@pytest.mark.parametrize(("make", "words"), [
    (lambda: dma.factor_from_function("f", lambda: 1.0), "a function of 0 inputs"),
    (lambda: dma.factor_from_function("f", lambda a, b, c, d: 1.0), "a function of 4 inputs"),
    (lambda: dma.factor_from_function("f", lambda *a: 1.0), r"\*a is no port"),
    (lambda: dma.factor_from_function("f", lambda x: x, scale=dma.above(0)), "no keyword-only argument"),
    (lambda: dma.likelihood_from_log_density("f", lambda x: 1.0), "1 arguments is given"),
    (lambda: dma.factor(3), "3 is given; a function is expected"),  # type: ignore[call-overload]
    (lambda: dma.factor(np.sin), r"sin: the names of its arguments are not known; wrap it, as in lambda x: sin\(x\)"),
])  # fmt: skip
def test_functions_that_cannot_be_factors_are_refused(make: Any, words: str) -> None:
    with pytest.raises(dma.Error, match=words):
        make()


def test_a_function_that_is_nowhere_a_number_is_certified_as_such() -> None:
    @dma.factor
    def nowhere(x: float) -> float:
        return float("nan")

    assert "nowhere" in repr(dma.certify(nowhere, quick=True))


def test_functions_are_released_with_their_plan() -> None:
    import sys

    def own(x: float) -> float:
        return x

    before = sys.getrefcount(own)
    kind = dma.factor(own)
    g = dma.Graph()
    g.apply("own", g.gaussian_prior(g.variable("x"), 0, 1))
    plan = dma.compile(g, kinds=[kind])
    del kind
    gc.collect()
    assert sys.getrefcount(own) > before
    del plan
    gc.collect()
    assert sys.getrefcount(own) == before
