"""Graphs from Python: the same answers as closed formulas, and nothing that a wrong call could break."""

from __future__ import annotations

import gc
import math
import pickle
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import dma
import numpy as np
import pytest
from conftest import ran

X, Y, NOISE = np.array([1.0, 2.0, 0.5]), 1.3, 0.04


def line() -> tuple[dma.Graph, dma.Variable, dma.Variable, dma.Variable]:
    """y = w . x + noise, with three weights."""
    g = dma.Graph()
    w = g.gaussian_prior(g.variable("w", 3), 0, variance=1)
    x, y = g.observed("x", 3), g.observed("y")
    g.gaussian_noise(g.sum(w * x), y, variance=NOISE)
    return g, w, x, y


def solved(schedule: Any) -> tuple[dma.Plan, dma.State, dma.Report]:
    g, w, x, y = line()
    return ran(g, {x: X, y: Y}, schedule)


@pytest.mark.parametrize("schedule", [dma.forward_backward(), dma.flooding(), dma.sequential(), dma.residual(), dma.joint(), "joint"])
def test_beliefs_and_evidence_are_those_of_linear_regression(schedule: Any) -> None:
    plan, state, report = solved(schedule)
    covariance = np.linalg.inv(np.eye(3) + np.outer(X, X) / NOISE)
    belief = state.belief("w")
    np.testing.assert_allclose(belief.mean, covariance @ X * Y / NOISE, rtol=1e-9)
    np.testing.assert_allclose(belief.sd**2, np.diag(covariance), rtol=1e-9)
    spread = X @ X + NOISE
    assert dma.log_evidence(plan, state) == pytest.approx(-0.5 * (np.log(2 * np.pi * spread) + Y**2 / spread), rel=1e-9)
    assert report.converged and len(belief) == 3


def test_operators_say_what_they_say_of_numbers() -> None:
    g = dma.Graph()
    a, b = g.gaussian_prior(g.variable("a"), 3, variance=1e-12), g.gaussian_prior(g.variable("b"), 2, variance=1e-12)
    found = {
        "a - b": a - b, "-a": -a, "a - 1": a - 1, "1 - a": 1 - a, "a / 4": a / 4, "a + b": a + b, "2 * a": 2 * a,
        "a / b": a / b, "6 / b": 6 / b, "exp(b)": dma.exp(b), "log(a)": dma.log(a),
        "a * b": a * b, "a * a": a * a, "a ** 1": a**1, "a ** 2": a ** np.int64(2), "a ** 3": a**3, "a ** 5": a**5,
    }  # fmt: skip
    seen = [g.observed(f"seen{i}") for i in range(len(found))]
    for result, at in zip(found.values(), seen):
        g.gaussian_noise(result, at, variance=1e6)
    answer = dma.solve(g, {at: 0.0 for at in seen}, dma.joint())
    for text, result in found.items():
        assert answer[result].mean[0] == pytest.approx(eval(text, {"a": 3, "b": 2, "exp": math.exp, "log": math.log}), rel=1e-6), text
    w = g.variable("w", 2)
    assert (w - [1, 2]).size == (w / np.array([2.0, 4.0])).size == 2
    for wrong in (lambda: a**0.5, lambda: a**-1, lambda: a ** 10**12, lambda: a / 0, lambda: a - "x"):
        with pytest.raises(dma.Error):
            wrong()


def test_a_model_is_written_as_in_c_plus_plus() -> None:
    m = dma.Model()
    weight, offset = m.gaussian("weight", 3, mean=4, sd=3), m.gaussian("offset", 2, sd=0.5)
    m.observe(
        weight[[0, 1, 2, 0, 1, 2]] + offset[[0, 0, 0, 1, 1, 1]], [2.1, 3.0, 5.2, 2.6, 3.4, 8.9], sd=0.2
    )  # as README has it
    answer = m.solve()
    assert answer.solver == "joint" and answer.report.stop == "exact"
    np.testing.assert_allclose(answer[weight].mean, [2.346, 3.194, 7.035], atol=6e-4)
    m = dma.Model()
    heads = m.prior("beta_prior", "heads", a=1, b=1)
    m.observe(heads, [1.0], "bernoulli_draw")
    np.testing.assert_allclose(m.solve()[heads].mean, [2 / 3], rtol=1e-12)
    with pytest.raises(dma.Error, match="element 3 is chosen of 3"):
        weight[[3]]
    with pytest.raises(TypeError):
        list(weight)


def test_a_width_is_named() -> None:
    g = dma.Graph()
    x, y = g.gaussian_prior(g.variable("x", 2), 0, sd=[2, 3]), g.observed("y", 2)
    g.gaussian_noise(x, y, sd=0.5)
    answer = dma.solve(g, {y: [1.0, 1.0]})
    np.testing.assert_allclose(answer[x].variance, [1 / (1 / 4 + 4), 1 / (1 / 9 + 4)], rtol=1e-12)
    for wrong in ({}, {"sd": 1, "variance": 1}, {"sd": -1}):
        with pytest.raises(dma.Error, match="gaussian_prior: .*(say one of them|must be positive)"):
            g.gaussian_prior(g.variable(""), 0, **wrong)
    with pytest.raises(TypeError):
        g.gaussian_prior(g.variable(""), 0, 1)  # type: ignore[misc]


def test_an_unknown_spread_is_integrated_over() -> None:
    schools = Path(__file__).parents[3] / "tools" / "examples" / "graphs" / "schools.json"
    parsed = dma.parse_graph(dma.graph_text(dma.parse_graph(schools.read_text())))
    assert parsed.hypers == ["tau"]
    from_file, by_hand = dma.joint(), dma.joint(hypers=[dma.hyper("tau", "half_cauchy", [5], [(parsed.graph.factors[1], "variance", 2)])])
    parsed.add_hypers(from_file)
    found = []
    for solver in (from_file, by_hand):
        _, state, report = ran(parsed.graph, {"y": parsed.observations["y"]}, solver)
        found.append(dma.hyper_belief(state, "tau"))
        assert report.converged and found[-1].quantile(0.05) < found[-1].mean < found[-1].quantile(0.95)
    assert found[0].mean == found[1].mean and abs(found[0].mean - 3.6) < 0.1


def test_correlations_and_draws_of_the_joint_solver() -> None:
    _, state, report = solved(dma.joint())
    exact = np.linalg.inv(np.eye(3) + np.outer(X, X) / NOISE)
    assert report.stop == "exact"
    np.testing.assert_allclose(dma.covariance(state, "w", "w"), exact, atol=1e-12)
    draws = dma.sample(state, "w", 20000)
    np.testing.assert_allclose(np.cov(draws.T), exact, atol=0.03)
    _, swept, _ = solved(dma.forward_backward())
    with pytest.raises(dma.Error):
        dma.covariance(swept, "w", "w")


def test_natural_parameters_are_a_view_that_keeps_its_belief() -> None:
    _, state, _ = solved(dma.forward_backward())
    natural = state.belief("w").natural
    gc.collect()
    assert natural.shape == (3, 2) and not natural.flags.owndata and not natural.flags.writeable
    np.testing.assert_allclose(natural[:, 0] / natural[:, 1], state.belief("w").mean)


def test_categories_have_a_column_each() -> None:
    g = dma.Graph()
    z = g.variable("z", 2, "categorical(3)")
    g.factor("categorical_prior", [z], probability=[0.2, 0.3, 0.5])
    _, state, _ = ran(g)
    np.testing.assert_allclose(state.belief(z).mean, [[0.2, 0.3, 0.5]] * 2)
    assert state.belief(z).family == "categorical(3)"


@pytest.mark.parametrize("missing", [[1.0, None, 2.0], np.ma.MaskedArray([1.0, 5.0, 2.0], mask=[0, 1, 0])])
def test_missing_values_are_none_or_masked(missing: Any) -> None:
    g = dma.Graph()
    m = g.gaussian_prior(g.variable("m"), 0, variance=100)
    seen = g.observed("seen", 3)
    g.gaussian_noise(dma.all_to_one(m), seen, variance=1)
    plan, state, _ = ran(g, {seen: missing}, may_be_missing=["seen"])
    np.testing.assert_allclose(state.belief(m).mean, [3 / 2.01])
    with pytest.raises(dma.Error, match="seen"):
        state.observe(seen, [1.0, np.nan, 2.0])
    state.observe(seen, None)
    dma.run(plan, state)
    np.testing.assert_allclose(state.belief(m).variance, [100])


def test_index_maps_chains_and_parameters() -> None:
    g = dma.Graph()
    x, y = g.variable("x", 4), g.observed("y", 4)
    g.factor("gaussian_prior", dma.gather(x, [0]), mean=0, variance=1)
    g.factor("gaussian_noise", [dma.shift(x), x], variance=0.5)
    g.factor("gaussian_noise", {"x": x, "y": y}, variance=2.0, name="reading")
    values = np.array([0.3, -1.0, 2.0, 0.7])
    plan, state, report = ran(g, {y: values})
    assert report.stop == "exact"
    steps = np.diag([1.0, 2, 2, 2]) + np.diag([2.0, 2, 2, 0]) - np.diag([2.0] * 3, 1) - np.diag([2.0] * 3, -1)
    np.testing.assert_allclose(state.belief(x).mean, np.linalg.solve(steps + np.eye(4) / 2, values / 2), rtol=1e-9)
    state.set_parameter("reading", "variance", [1.0, 2.0, 3.0, 4.0])
    dma.run(plan, state)
    noise = np.diag(1 / np.array([1.0, 2, 3, 4]))
    np.testing.assert_allclose(state.belief(x).variance, np.diag(np.linalg.inv(steps + noise)), rtol=1e-9)


def test_plans_and_states_outlive_what_they_were_made_from() -> None:
    g, w, x, y = line()
    plan = dma.compile(g)
    g.variable("later")
    del g
    state = dma.State(plan)
    other = state.copy()
    del plan
    gc.collect()
    for one in (state, other):
        one.observe(x, X)
        one.observe(y, Y)
        assert dma.run(one.plan, one).converged
    assert w.name == "w" and "later" not in state.beliefs()


def test_many_states_of_one_plan_run_at_once_and_one_state_only_alone() -> None:
    g, w, x, y = line()
    plan = dma.compile(g, dma.flooding(limit=5, tolerance=0))
    errors: list[BaseException] = []

    def work(state: dma.State, value: float) -> None:
        try:
            for _ in range(200):
                state.observe(x, X)
                state.observe(y, value)
                dma.run(plan, state)
        except dma.Error as error:
            errors.append(error)

    states = [dma.State(plan) for _ in range(4)]
    threads = [threading.Thread(target=work, args=(state, i)) for i, state in enumerate(states)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for i, state in enumerate(states):
        np.testing.assert_allclose(state.belief(w).mean[1], i * states[1].belief(w).mean[1])
    threads = [threading.Thread(target=work, args=(states[0], 1.0)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another thread is at work with this state" in str(error) for error in errors)


def test_control_c_a_callback_or_the_time_end_a_run_and_a_warm_one_goes_on() -> None:
    g = dma.Graph()
    x = g.gaussian_prior(g.variable("x", 2000), 0, variance=1)
    g.factor("gaussian_noise", [dma.shift(x), x], variance=0.01)
    seen = g.observed("seen", 2000)
    g.gaussian_noise(x, seen, variance=1.0)
    values = np.sin(np.arange(2000) / 100)
    plan = dma.compile(g, dma.flooding(tolerance=1e-9, limit=1000000))
    state = dma.State(plan)
    state.observe(seen, values)
    heard: list[int] = []

    def stop(report: dma.Report) -> bool:
        heard.append(report.sweeps)
        return len(heard) < 3

    assert dma.run(plan, state, callback=stop).stop == "interrupted" and len(heard) == 3
    assert dma.run(plan, state, warm=True, seconds=0.0).stop == "interrupted"

    def interrupt(report: dma.Report) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        dma.run(plan, state, warm=True, callback=interrupt)
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    endless = dma.compile(g, dma.flooding(tolerance=0, limit=10**9, damping=0.99999))  # millions of sweeps to rest
    other = dma.State(endless)
    other.observe(seen, values)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        dma.run(endless, other)
    assert dma.run(plan, state, warm=True).converged
    _, exact, _ = ran(g, {seen: values})
    np.testing.assert_allclose(state.belief(x).mean, exact.belief(x).mean, atol=1e-6)
    with pytest.raises(dma.Error, match="seconds: -1 is given"):
        dma.run(plan, state, seconds=-1.0)


def test_wrong_calls_are_refused_in_words() -> None:
    g, w, x, y = line()
    other = dma.Graph()
    plan = dma.compile(g)
    state = dma.State(plan)
    for call, words in [
        (lambda: g.factor("prodct", [w, x, y]) and dma.compile(g), "did you mean 'product'"),
        (lambda: g.factor("gaussian_noise", [w, "x"], variance=1), "'x' is given where a variable is expected"),
        (lambda: g.gaussian_noise(w, variance="wide"), "parameter 'variance': 'wide' is given"),
        (lambda: g.product(w, x, 3), "3 is given as a result"),
        (lambda: other.product(w, x), "graph"),
        (lambda: g["v"], "v"),
        (lambda: g.factor("sum", 5), "5 is given; a variable, a list of them"),
        (lambda: dma.compile(g, "floding"), "there is no schedule 'floding'; did you mean 'flooding'"),
        (lambda: dma.compile(g, 3), "3 is given as a schedule"),
        (lambda: state.observe(w, [1, 2, 3]), "w"),
        (lambda: state.observe(x, [1, 2]), "x"),
        (lambda: state.observe(x, "abc"), "observe: 'abc' is given"),
        (lambda: state.observe(3, 1.0), "3 is given; a variable or its name is expected"),
        (lambda: state.belief("u"), "u"),
        (lambda: dma.run(plan, state), "no value"),
        (lambda: dma.evidence(plan, state), "run"),
        (lambda: state.set_parameter("gaussian_noise3", "varience", 1), "variance"),
    ]:  # fmt: skip
        with pytest.raises(dma.Error) as error:
            call()
        assert words in str(error.value), str(error.value)
    with pytest.raises(TypeError):
        dma.compile("graph")  # type: ignore[arg-type]


def test_contradictions_are_their_own_error() -> None:
    g = dma.Graph()
    a, b = g.observed("a"), g.observed("b")
    middle = g.affine(a, 1.0, 0.0)
    g.factor("affine", [b, middle], a=1.0, b=0.0)
    state = dma.State(plan := dma.compile(g, dma.flooding()))
    state.observe(a, 1)
    state.observe(b, 2)
    with pytest.raises(dma.Contradiction):
        dma.run(plan, state)


def test_what_a_notebook_shows() -> None:
    plan, state, report = solved(dma.forward_backward())
    assert "<table>" in state.belief("w")._repr_html_() and "N(" in repr(state.belief("w"))
    assert report._repr_html_().startswith("<pre>") and "sweep" in repr(report)
    evidence = dma.evidence(plan, state)
    assert float(evidence) == pytest.approx(sum(evidence.factors.values()) + sum(evidence.variables.values()))
    assert evidence._repr_html_().startswith("<pre>") and evidence.is_exact and evidence.why == ""
    g, *_ = line()
    assert g.dot().startswith("digraph") and "3 variables" not in repr(plan)
    for shown in (g, plan, state):
        picture = shown._repr_svg_()
        assert picture is None if shutil.which("dot") is None else picture and picture.startswith("<svg")


def test_a_frozen_variable_keeps_its_belief_and_a_factor_its_damping() -> None:
    g, w, x, y = line()
    plan, state, _ = ran(g, {x: X, y: Y}, dma.flooding())
    before = state.belief(w).mean
    state.freeze(w)
    state.observe(y, 2 * Y)
    dma.run(plan, state)
    assert state.is_frozen("w") and (state.belief(w).mean == before).all()
    state.thaw(w)
    dma.run(plan, state)
    np.testing.assert_allclose(state.belief(w).mean, 2 * before)
    with pytest.raises(dma.Error, match="is observed"):
        state.freeze(y)
    g.factor("gaussian_noise", [w, g.variable("v", 3)], damping=1.5, variance=1.0)
    with pytest.raises(dma.Error, match="damping is 1.5"):
        dma.compile(g, dma.flooding())


@pytest.mark.parametrize("values", [
    [1j, 2, 3], ["1", "2", "3"], np.array(["2020-01-01"] * 3, "M8[D]"), np.array([1, "a", 3], object), [10**400, 1, 1], {1, 2, 3}, [None, "a", 1],
])  # fmt: skip
def test_what_is_no_number_is_not_observed(values: Any) -> None:
    g = dma.Graph()
    x = g.gaussian_prior(g.variable("x", 3), 0, variance=1)
    g.gaussian_noise(x, y := g.observed("y", 3), variance=1)
    state = dma.State(dma.compile(g))
    with pytest.raises(dma.Error, match="a number, an array of numbers, or None") as error:
        state.observe(y, values)
    assert len(str(error.value)) < 300
    for same in (np.arange(6.0)[::2], np.arange(3.0)[::-1], np.arange(3.0).astype(">f8"), np.ones((3, 3), order="F")[:, 1], range(3)):
        state.observe(y, same)
        dma.run(state.plan, state)
        np.testing.assert_allclose(state.belief(x).mean, np.asarray(same) / 2)


@pytest.mark.parametrize("size", [-1, 2.5, 10**40, "3", None])
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(dma.Error, match="variable 'w' has size .*; a whole number"):
        dma.Graph().variable("w", size)
    with pytest.raises(dma.Error, match="text is expected"):
        dma.Graph().variable(None)
    assert dma.Graph().variable("w", np.int32(3)).size == 3


@pytest.mark.parametrize("protocol", range(6))
def test_what_cannot_be_pickled_says_so(protocol: int) -> None:
    g = dma.Graph()
    g.gaussian_prior(g.variable("x"), 0, variance=1)
    plan = dma.compile(g)
    assert dma.graph_text(pickle.loads(pickle.dumps(g, protocol))) == dma.graph_text(g)
    for thing in (g["x"], plan, dma.State(plan), dma.State(plan).belief("x"), dma.run(plan, dma.State(plan)), dma.joint()):
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(thing, protocol)


SPRINKLER = """network n { }
variable cloudy { type discrete [ 2 ] { no, yes }; }
variable sprinkler { type discrete [ 2 ] { off, on }; }
variable rain { type discrete [ 2 ] { no, yes }; }
variable wet { type discrete [ 2 ] { no, yes }; }
probability ( cloudy ) { table 0.5, 0.5; }
probability ( sprinkler | cloudy ) { (no) 0.5, 0.5; (yes) 0.9, 0.1; }
probability ( rain | cloudy ) { (no) 0.8, 0.2; (yes) 0.2, 0.8; }
probability ( wet | sprinkler, rain ) { (off, no) 1, 0; (off, yes) 0.1, 0.9; (on, no) 0.1, 0.9; (on, yes) 0.01, 0.99; }
"""


def test_a_discrete_graph_is_asked_for_tables_values_draws_and_decisions() -> None:
    parsed = dma.parse_graph(SPRINKLER, {"wet": "yes"})
    assert parsed.graph["sprinkler"].categories == ["off", "on"]
    plan, state, report = ran(parsed.graph, {"wet": "yes"}, dma.exact())
    joint = dma.marginal(state, ["cloudy", "sprinkler", "rain"])
    assert report.stop == "exact" and joint.shape == (2, 2, 2) and abs(dma.log_evidence(plan, state) - math.log(0.6471)) < 1e-12
    np.testing.assert_allclose(state.belief("rain").mean[0], joint.sum((0, 1)), atol=1e-12)
    values, log_probability = dma.most_probable(state)
    assert (values["cloudy"], values["sprinkler"], values["rain"]) == np.unravel_index(joint.argmax(), joint.shape) and values["wet"] == 1
    assert np.isclose(np.exp(log_probability - dma.log_evidence(plan, state)), joint.max())
    assert abs(dma.sample(state, "rain", 20000, 3).mean() - joint[..., 1].sum()) < 5 * np.sqrt(0.25 / 20000)
    action, utilities = dma.decide(state, ["rain"], [0.0, 0.0, 1.0, -2.0])  # stay, or go out unless it rains
    assert np.allclose(utilities, [0, joint[..., 0].sum() - 2 * joint[..., 1].sum()]) and action == int(np.argmax(utilities))
    assert dma.value_of_information(state, ["rain"], [0.0, 0.0, 1.0, -2.0], "rain") > 0
    with pytest.raises(dma.Error, match="variable 'wet' has no category 'Yes'; did you mean 'yes'"):
        state.observe("wet", "Yes")


def test_gates_and_bounds() -> None:
    g = dma.Graph()
    effective, x = g.variable("effective", family="bernoulli"), g.observed("x", family="bernoulli")
    g.factor("bernoulli_prior", [effective], probability=0.5)
    g.factor("bernoulli_prior", [x], probability=0.9, when={effective: 0})
    g.factor("bernoulli_prior", [x], probability=1.0, when={"effective": 1})
    plan, state, report = ran(g, {x: 1}, "exact")
    assert report.stop == "exact" and "2 cases" in str(report) and dma.log_evidence(plan, state) == pytest.approx(math.log(0.95))
    with pytest.raises(dma.Error, match="a value of it"):
        g.factor("bernoulli_prior", [x], probability=1.0, when={effective: -1})
    ring = dma.Graph()
    s = ring.variable("s", 4, "categorical(2)")
    ring.factor("potential", [s, dma.gather(s, [1, 2, 3, 0])], weight=[2.0, 1, 1, 2])
    plan, state, _ = ran(ring, {}, dma.tree_reweighted())
    lower, upper = dma.evidence_bounds(state)
    assert lower <= np.log(3.0**4 + 1) <= upper == dma.log_evidence(plan, state)


def test_a_schedule_of_ones_own_names_factors_and_ports_and_is_checked() -> None:
    g = dma.Graph()
    a, b, y = g.variable("a"), g.variable("b"), g.observed("y")
    prior = g.factor("gaussian_prior", [a], name="prior", mean=0, variance=1)
    g.factor("gaussian_noise", [a, b], name="step", variance=1)
    g.factor("gaussian_noise", [b, y], name="reading", variance=1)

    def solved_by(*visits: dma.Visit, **options: Any) -> dma.Answer:
        return dma.solve(g, {"y": 3}, dma.Schedule("mine", visits, **options))

    there = [dma.Visit(prior, send=["x"]), dma.Visit("step", refresh=["x"], send=["y"])]
    back = [dma.Visit("reading", refresh=["y"], send=["x"]), dma.Visit("step", refresh=["y"], send=["x"])]
    found = solved_by(*there, *back)
    assert "exact" in repr(found) and abs(found[b].mean - 2) < 1e-12 and abs(found[a].variance - 2 / 3) < 1e-12
    found = solved_by(*(dma.Visit(factor) for factor in reversed(g.factors)), order="repeated", tolerance=1e-12, limit=9)
    assert found.report.converged and abs(found[a].mean - 1) < 1e-12
    found = solved_by(*there, approximate="approximate: readings are left out")
    assert "readings are left out" in repr(found.report) and found[b].mean == 0
    plan = dma.compile(g, dma.Schedule("mine", [*there, *back]))
    sent = [line.split("send")[1].split(" from")[0].strip() for line in plan.describe().splitlines() if "send " in line]
    assert sent == ["prior -> x", "step -> y", "reading -> x", "step -> x"]
    with pytest.raises(dma.Error, match="^schedule 'mine', visit 1: there is no factor 'stap'; did you mean 'step'"):
        solved_by(there[0], dma.Visit("stap"))
    with pytest.raises(dma.Error, match="^schedule 'mine', visit 0 to 'step': there is no port 'z'; known: x, y$"):
        solved_by(dma.Visit("step", refresh=["z"]))
    with pytest.raises(dma.Error, match="no visit sends the message of factor 'step'"):
        solved_by(*there)
    with pytest.raises(dma.Error, match="'twice'; known: once, repeated, residual"):
        solved_by(*there, order="twice")
