"""Factors and likelihoods written in Python, against quadrature and against the built-in ones."""

from __future__ import annotations

import gc
import math
import os
import pickle
from pathlib import Path
from typing import Any

import dma
import numpy as np
import pytest
from conftest import ran


@dma.factor
def softplus(x: float) -> float:
    """y = log(1 + e^x)"""
    return math.log1p(math.exp(x)) if x < 30 else x


@dma.likelihood(scale=dma.above(0))
def bell(x: float, y: float, *, scale: float = 1.0) -> float:
    """Gaussian noise, as a log density."""
    return -0.5 * ((y - x) / scale) ** 2 - math.log(scale * math.sqrt(2 * math.pi))


def test_domains_pickle() -> None:
    for domain in (dma.above(0) & dma.at_most(2), dma.finite(), dma.one_of([1, 2])):
        copy = pickle.loads(pickle.dumps(domain))
        assert repr(copy) == repr(domain)
        assert [x in copy for x in (-1, 0, 1, 1.5, 2, 3)] == [x in domain for x in (-1, 0, 1, 1.5, 2, 3)]


def test_a_function_has_the_moments_of_its_values() -> None:
    g = dma.Graph()
    y = g.apply("softplus", g.gaussian_prior(g.variable("x"), 0.3, variance=0.5))
    _, state, _ = ran(g, kinds=[softplus])
    values = np.log1p(np.exp(np.random.default_rng(1).normal(0.3, math.sqrt(0.5), 400_000)))
    np.testing.assert_allclose([state.belief(y).mean[0], state.belief(y).sd[0]], [values.mean(), values.std()], rtol=5e-3)


@pytest.mark.parametrize("schedule", [dma.forward_backward(), dma.joint()])
def test_a_log_density_gives_what_the_built_in_noise_gives(schedule: Any) -> None:
    found = []
    for kind, parameters in [("bell", {"scale": 0.5}), ("gaussian_noise", {"variance": 0.25})]:
        g = dma.Graph()
        x, y = g.gaussian_prior(g.variable("x", 3), 0, variance=1), g.observed("y", 3)
        g.factor(kind, [x, y], **parameters)
        plan, state, _ = ran(g, {y: [-1, 0.5, 2]}, schedule, kinds=[bell], method="ep")
        found.append((state.belief(x).mean, state.belief(x).variance, dma.log_evidence(plan, state)))
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_several_inputs_parameters_and_lambdas() -> None:
    power = dma.factor_from_function("power", lambda x, *, exponent: abs(x) ** exponent, "y = |x|^exponent", exponent=dma.above(0))
    mixed = dma.factor_from_function("mixed", lambda a, b: a * b)
    assert power.ports == ["x", "y"] and mixed.ports == ["a", "b", "y"] and "exponent in (0" in power.describe()
    g = dma.Graph()
    a, b = g.gaussian_prior(g.variable("a"), 2.0, variance=0.01), g.gaussian_prior(g.variable("b"), 3.0, variance=0.01)
    c = g.apply("power", g.apply("mixed", [a, b]), exponent=2.0)
    registry = dma.Registry().add(power).add(mixed)
    assert "mixed" in registry and len(registry) == len(dma.standard_registry()) + 2
    state = dma.State(plan := dma.compile(g, registry=registry))
    del power, mixed, registry
    gc.collect()
    dma.run(plan, state)
    np.testing.assert_allclose(state.belief(c).mean, [36.1301], rtol=1e-3)  # E[a^2] E[b^2]
    g2 = dma.Graph()
    g2.apply("softplus", g2.gaussian_prior(g2.variable("a"), 0, variance=1), slope=2.0)
    with pytest.raises(dma.Error, match="slope"):
        dma.compile(g2, kinds=[softplus])


def test_a_function_of_an_array_is_solved_jointly() -> None:
    turned = dma.factor_from_vector_function(
        "turned", 2, 2, lambda x, *, scale: [scale * (x[0] + x[1]), x[1] - x[0]], "scaled and turned", scale=dma.above(0)
    )
    assert turned.ports == ["x", "y1", "y2"] and turned.summary == "scaled and turned"
    g = dma.Graph()
    place, sum_, difference = g.gaussian_prior(g.variable("place", 2), [3, 5], variance=4), g.variable("sum"), g.variable("difference")
    g.factor("turned", {"x": place, "y1": sum_, "y2": difference}, scale=2.0)
    seen = g.gaussian_noise(sum_, g.observed("a"), variance=0.01), g.gaussian_noise(difference, g.observed("b"), variance=0.04)
    state = dma.State(plan := dma.compile(g, dma.joint(), kinds=[turned]))
    for variable, value in zip(seen, (10.2, 0.9)):
        state.observe(variable, value)
    dma.set_start(state, place, [2.0, 2.0])
    dma.run(plan, state)
    gains, weights = np.array([[2.0, 2], [-1, 1]]), np.diag([1 / 0.01, 1 / 0.04])
    information = gains.T @ weights @ gains + np.eye(2) / 4
    mean = np.linalg.solve(information, gains.T @ weights @ [10.2, 0.9] + np.array([3, 5]) / 4)
    np.testing.assert_allclose(state.belief(place).mean, mean, rtol=1e-7)
    np.testing.assert_allclose(dma.covariance(state, place, place), np.linalg.inv(information), rtol=1e-6)
    short = dma.factor_from_vector_function("short", 2, 2, lambda x: [1.0])
    g = dma.Graph()
    g.factor("short", {"x": g.gaussian_prior(g.variable("x", 2), 0, variance=1), "y1": g.variable("a"), "y2": g.variable("b")})
    with pytest.raises(dma.Error, match="'short': its function returned 1 numbers, but it has 2 outputs"):
        dma.run(plan := dma.compile(g, dma.joint(), kinds=[short]), dma.State(plan))


def test_a_run_is_certified_and_compared_with_other_solvers() -> None:
    g = dma.Graph()
    x, y = g.gaussian_prior(g.variable("x"), 0.3, variance=1), g.observed("y")
    g.gaussian_noise(g.leaky_relu(x, 0.1), y, variance=0.25)
    _, state, _ = ran(g, {y: 0.4})
    found = dma.certificate(state, x)
    assert [one.marginal > 0 for one in found.edges if one.kind == "leaky_relu"] == [True]
    assert len(dma.certificate(state).edges) > len(found.edges) and "leaky_relu" in found._repr_html_() and "nats" in repr(found)

    g = dma.Graph()  # three variables in a ring
    v = g.gaussian_prior(g.variable("v", 3), [1, 2, 3], variance=1)
    g.gaussian_noise(g.linear(v, [[1, 1, 0], [0, 1, 1], [1, 0, 1]]), g.observed("seen", 3), variance=0.5)
    compared = dma.compare_with_joint(g, {"seen": [3.0, 4.0, 5.0]}, dma.flooding(damping=0.5))
    name, apart, ratio = compared.rows[0]
    assert name == "v" and compared.joint.stop == "exact" and "mean apart" in repr(compared) and apart < 1e-6 and ratio == pytest.approx(9 / 7, rel=1e-6)

    sprinkler = dma.parse_graph((Path(os.environ["DMA_SOURCE_DIR"]) / "tools/examples/graphs/sprinkler.json").read_text()).graph
    discrete = dma.compare_with_exact(sprinkler, {"wet grass": 1})
    rain = [ran(sprinkler, {"wet grass": 1}, schedule, fuse=False)[1].belief("rain").mean for schedule in ("exact", "flooding")]
    assert dict(discrete.rows)["rain"] == pytest.approx(np.abs(rain[0] - rain[1]).max(), abs=1e-9)
    assert discrete.log_evidence == pytest.approx(math.log(0.6471), rel=1e-9)  # by enumeration
    with pytest.raises(dma.Error, match="<dma.Joint> is given as a schedule; one of sweeps is expected"):
        dma.compare_with_joint(g, {}, dma.joint())  # type: ignore[arg-type]


def test_certified_by_the_same_call_as_built_in_kinds() -> None:
    mine = dma.certify(bell, "ep", quick=True)
    assert mine.band == "matched" == dma.certify(dma.standard_registry().kind("probit"), "ep", quick=True).band
    assert all(not edge.failures for edge in mine.edges) and "bell (ep)" in repr(mine) and mine._repr_html_()

    def refuse(x: float) -> float:
        raise Mine(f"not at {x:.3f}")

    with pytest.raises(dma.Error, match="a function of its message to 'x' threw an exception: Mine: not at"):
        dma.certify(dma.factor(refuse), quick=True)


class Mine(Exception):
    pass


@pytest.mark.parametrize("schedule", [dma.forward_backward(), dma.flooding(), dma.joint()])
def test_what_a_function_raises_comes_out_of_run_as_it_is(schedule: Any) -> None:
    calls = []

    def sometimes(x: float) -> float:
        calls.append(x)
        if len(calls) == 3:
            raise Mine(f"call {len(calls)}")
        return 2 * x

    g = dma.Graph()
    x = g.gaussian_prior(g.variable("x"), 0, variance=1)
    y = g.observed("y")
    g.gaussian_noise(g.apply("sometimes", x), y, variance=1.0)
    state = dma.State(plan := dma.compile(g, schedule, kinds=[dma.factor(sometimes)]))
    state.observe(y, 2.0)
    with pytest.raises(Mine, match="call 3") as error:
        dma.run(plan, state)
    assert error.traceback[-1].name == "sometimes"
    assert dma.run(plan, state).converged  # the state is as good as new
    np.testing.assert_allclose(state.belief(x).mean, [0.8], rtol=1e-6)


def test_results_that_are_no_numbers() -> None:
    words = dma.factor_from_function("words", lambda x: "three")  # type: ignore[arg-type,return-value]
    g = dma.Graph()
    g.apply("words", g.gaussian_prior(g.variable("x"), 0, variance=1))
    state = dma.State(plan := dma.compile(g, kinds=[words]))
    with pytest.raises(TypeError, match="real number"):
        dma.run(plan, state)
    nan = dma.factor_from_function("nan", lambda x: float("nan"))
    g = dma.Graph()
    y = g.apply("nan", g.gaussian_prior(g.variable("x"), 0, variance=1))
    _, state, _ = ran(g, kinds=[nan])
    assert (state.belief(y).natural == 0).all()  # nothing is known; no NaN comes out


def test_a_result_beyond_all_numbers_is_outside_of_the_domain() -> None:
    with pytest.raises(OverflowError):
        bell.function(1e200, 0.0)  # Python raises where C++ has an infinity
    g = dma.Graph()
    x, y = g.gaussian_prior(g.variable("x"), 0, variance=1e300), g.observed("y")
    g.factor("bell", [x, y])
    _, state, _ = ran(g, {y: 1.0}, kinds=[bell], method="ep")
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


def test_functions_are_released_with_their_plan() -> None:
    import sys

    def own(x: float) -> float:
        return x

    before = sys.getrefcount(own)
    kind = dma.factor(own)
    g = dma.Graph()
    g.apply("own", g.gaussian_prior(g.variable("x"), 0, variance=1))
    plan = dma.compile(g, kinds=[kind])
    del kind
    gc.collect()
    assert sys.getrefcount(own) > before
    del plan
    gc.collect()
    assert sys.getrefcount(own) == before
