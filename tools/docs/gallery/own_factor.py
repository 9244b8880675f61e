"""A factor of one's own: what if the thermometer stops at 30 degrees?

A reading of 30 stands for any temperature above. The log density is a Python function of two lines, `certify` measures
how good its messages are, and quadrature checks the answer. The same in C++:
[custom_likelihood.cpp](../../examples/custom_likelihood.cpp). More: [adding a factor](../factors.md).
"""

import math

import dma
import matplotlib.pyplot as plt
import numpy as np


@dma.likelihood(stop=dma.finite(), sd=dma.above(0))
def thermometer(x, y, *, stop, sd):
    if y < stop:
        return -0.5 * ((y - x) / sd) ** 2 - math.log(sd * math.sqrt(2 * math.pi))
    return math.log(0.5 * math.erfc((stop - x) / (sd * math.sqrt(2))) or 1e-300)


readings = [27.1, 30.0, 28.4, 30.0, 29.3, 30.0, 30.0, 28.8]
g = dma.Graph()
mean, seen = g.gaussian_prior(g.variable("mean"), 25, variance=100), g.observed("seen", 8)
g.factor("thermometer", [dma.all_to_one(mean), seen], stop=30, sd=2)
answer = dma.solve(g, {seen: readings}, kinds=[thermometer])
print(answer.report)
print("its messages:", dma.certify(thermometer, quick=True).band)

at = np.linspace(20, 40, 2001)
log_density = np.array([-0.5 * (x - 25) ** 2 / 100 + sum(thermometer.function(x, y, stop=30, sd=2) for y in readings) for x in at])
density = np.exp(log_density - log_density.max())
density /= density.sum() * 0.01
exact = density @ at * 0.01
exact_sd = math.sqrt(density @ (at - exact) ** 2 * 0.01)
print(f"mean {answer[mean].mean[0]:.3f} +- {answer[mean].sd[0]:.3f}, by quadrature {exact:.3f} +- {exact_sd:.3f}; taken literally {np.mean(readings):.2f}")
assert abs(answer[mean].mean[0] - exact) < 0.02 * exact_sd and abs(answer[mean].sd[0] / exact_sd - 1) < 0.02

ax = answer[mean].plot()
ax.plot(at, density, "--", color="red", label="by quadrature")
ax.set(xlim=(26, 34), title="the temperature", xlabel="degrees")
ax.legend()
plt.savefig("own_factor.svg")
