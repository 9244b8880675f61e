"""Eight schools: how much do they differ?

Coaching in eight schools had effects of known standard errors (Rubin, 1981). How far do the effects differ in truth?
Their spread tau is unknown: the joint solver integrates over it, and says so in its report. The check is a sum over
20,000 values of tau, given each of which everything is Gaussian. The same in C++: [schools.cpp](../../examples/schools.cpp).
"""

import dma
import matplotlib.pyplot as plt
import numpy as np

effects, errors = np.array([28, 8, -3, 7, -1, 1, 18, 12]), np.array([15, 10, 16, 11, 9, 11, 10, 18])

g = dma.Graph()
mu = g.gaussian_prior(g.variable("mu"), 0, variance=25)
theta, y = g.variable("theta", 8), g.observed("y", 8)
spread = g.factor("gaussian_noise", [dma.all_to_one(mu), theta], variance=1)
g.factor("gaussian_noise", [theta, y], variance=errors**2)
tau = dma.hyper("tau", "half_cauchy", [5], [(spread, "variance", 2)])  # the variance of that factor is tau^2
answer = dma.solve(g, {y: effects}, dma.joint(hypers=[tau]))
found = dma.hyper_belief(answer.state, "tau")
print(answer.report)
print(f"tau {found.mean:.2f} +- {found.sd:.2f}, mu {answer[mu].mean[0]:.2f} +- {answer[mu].sd[0]:.2f}")

at = (np.arange(20_000) + 0.5) * 0.02  # tau, up to 400
of_mean = 1 / (errors[:, None] ** 2 + at**2)
variance = 1 / (1 / 25 + of_mean.sum(0))
mean = variance * (effects @ of_mean)
log_weight = -np.log1p(at**2 / 25) + 0.5 * (np.log(of_mean).sum(0) + np.log(variance) - effects**2 @ of_mean + mean**2 / variance)
weight = np.exp(log_weight - log_weight.max())
weight /= weight.sum()
print(f"by quadrature tau {weight @ at:.2f}, mu {weight @ mean:.2f}")
assert abs(found.mean - weight @ at) < 0.05 * found.sd and abs(answer[mu].mean[0] - weight @ mean) < 0.01 * answer[mu].sd[0]

ax = answer[theta].plot(names=list("ABCDEFGH"))
ax.plot(effects, np.arange(8)[::-1], "x", color="black")
ax.set(title="effects: measured (x), and what is known of them", xlabel="points")
plt.savefig("eight_schools.svg")
