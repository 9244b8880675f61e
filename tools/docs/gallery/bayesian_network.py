"""A Bayesian network with evidence: what does the patient have?

The chest clinic of Lauritzen and Spiegelhalter (1988): a patient is short of breath and was in Asia. Published: 0.088
for tuberculosis, 0.0995 for lung cancer, 0.811 for bronchitis. The same in C++: [asia.cpp](../../examples/asia.cpp), as a
file: [asia.bif](../../examples/graphs/asia.bif). More: [discrete graphs](../solvers.md#discrete-graphs-exactly).
"""

import dma
import matplotlib.pyplot as plt

g = dma.Graph()
names = ["asia", "tuberculosis", "smoking", "cancer", "bronchitis", "either", "shadow", "dyspnoea"]
seen = ("asia", "dyspnoea")
variables = [(g.observed if name in seen else g.variable)(name, 1, "categorical(2)") for name in names]
asia, tub, smoke, lung, bronc, either, xray, dysp = variables
for variable in variables:
    variable.categories = ["no", "yes"]
g.factor("categorical_prior", asia, probability=[0.99, 0.01])
g.factor("categorical_prior", smoke, probability=[0.5, 0.5])
for parents_and_child, probability in (
    ([asia, tub], [0.99, 0.01, 0.95, 0.05]),
    ([smoke, lung], [0.99, 0.01, 0.9, 0.1]),
    ([smoke, bronc], [0.7, 0.3, 0.4, 0.6]),
    ([tub, lung, either], [1, 0, 0, 1, 0, 1, 0, 1]),
    ([either, xray], [0.95, 0.05, 0.02, 0.98]),
    ([bronc, either, dysp], [0.9, 0.1, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9]),
):
    g.factor("table", parents_and_child, probability=probability)

before = dma.solve(g, {dysp: [None], asia: [None]})
after = dma.solve(g, {dysp: "yes", asia: "yes"})
print(after, after.report, sep="\n")
shown = [tub, lung, bronc, smoke]
chances = {v.name: after[v].probability(0, 1) for v in shown}
print({name: round(chance, 4) for name, chance in chances.items()})
assert [round(chance, 4) for chance in chances.values()] == [0.0878, 0.0995, 0.8114, 0.6259]

ax = plt.subplots(figsize=(7, 3), layout="constrained")[1]
for shift, answer, label in ((-0.2, before, "before"), (0.2, after, "short of breath, was in Asia")):
    ax.bar([i + shift for i in range(4)], [answer[v].probability(0, 1) for v in shown], 0.4, label=label)
ax.set_xticks(range(4), list(chances))
ax.legend()
plt.savefig("bayesian_network.svg")
