"""Models as they are written down: unknowns with priors, expressions of them, and what is observed."""

from __future__ import annotations

from typing import Any

from ._dma import Answer, Graph, Registry, Variable, solve, standard_registry


class Model:
    """A thin layer on a Graph, which can be printed, compiled and kept.

        m = dma.Model()
        weight, offset = m.gaussian("weight", 3, mean=4, sd=3), m.gaussian("offset", 2, sd=0.5)
        m.observe(weight[[0, 1, 2]] + offset[[0, 0, 1]], [2.1, 3.0, 8.9], sd=0.2)
        m.observe(dma.exp(weight[[0]]), [3], "poisson")
        print(m.solve()[weight])
    """

    def __init__(self, registry: Registry | None = None) -> None:
        self.graph, self.registry = Graph(), registry or standard_registry()
        self.values: dict[Variable, Any] = {}

    def gaussian(self, name: str, size: int = 1, *, mean: Any = 0.0, sd: Any = None, variance: Any = None) -> Variable:
        """Unknowns with a Gaussian prior; of sd and variance one is given."""
        return self.graph.gaussian_prior(self.graph.variable(name, size), mean, sd=sd, variance=variance)

    def prior(self, kind: str, name: str, size: int = 1, *, family: str = "", **parameters: Any) -> Variable:
        """Unknowns with any prior: prior("gamma_prior", "rate", shape=2, rate=1); family="categorical(3)" if need be."""
        x = self.graph.variable(name, size, family or self.registry.kind(kind).families[-1])
        self.graph.factor(kind, [x], **parameters)
        return x

    def observe(self, expression: Variable, values: Any, likelihood: str = "gaussian_noise", **parameters: Any) -> None:
        """Data of an expression: with noise of this sd or variance, or by any kind whose last port is observed."""
        y = self.graph.observed("", expression.size, self.registry.kind(likelihood).families[-1])
        if likelihood == "gaussian_noise":
            self.graph.gaussian_noise(expression, y, **parameters)
        else:
            self.graph.factor(likelihood, [expression, y], **parameters)
        self.values[y] = values

    def solve(self, by: Any = "auto", **options: Any) -> Answer:
        """As dma.solve, with the values that were observed."""
        return solve(self.graph, self.values, by, self.registry, **options)
