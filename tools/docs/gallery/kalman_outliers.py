"""A Kalman filter with outliers: where is it, when one reading in ten is nonsense?

A position wanders, and readings of it have noise with the tails of Student's t. The same graph with Gaussian noise, a
Kalman smoother, follows every wrong reading. The check is the exact smoother on a grid of 600 positions. More:
[Kalman filters and SLAM](../kalman_and_slam.md).
"""

import dma
import matplotlib.pyplot as plt
import numpy as np

random = np.random.default_rng(5)
steps = 80
truth = np.cumsum(random.normal(0, 0.3, steps))
seen = truth + random.normal(0, 0.4, steps)
wrong = random.random(steps) < 0.1
seen[wrong] += random.normal(0, 6, wrong.sum())


def smoother(kind, **parameters):
    g = dma.Graph()
    x, y = g.variable("x", steps), g.observed("y", steps)
    g.factor("gaussian_prior", [dma.gather(x, [0])], mean=0, variance=1)
    g.gaussian_noise(dma.shift(x), x, variance=0.09)
    g.factor(kind, [x, y], **parameters)
    answer = dma.solve(g, {y: seen})
    print(answer.report)
    return answer[x]


plain, robust = smoother("gaussian_noise", variance=0.16), smoother("student_t_noise", scale=0.4, degrees=3)

grid = np.linspace(-12, 12, 600)
move = np.exp(-0.5 * (grid[:, None] - grid) ** 2 / 0.09)
likely = (1 + ((seen[:, None] - grid) / 0.4) ** 2 / 3) ** -2
ahead, back = np.empty((steps, 600)), np.ones((steps, 600))
ahead[0] = np.exp(-0.5 * grid**2) * likely[0]
for t in range(1, steps):
    ahead[t] = ahead[t - 1] @ move * likely[t]
    ahead[t] /= ahead[t].sum()
for t in reversed(range(steps - 1)):
    back[t] = move @ (back[t + 1] * likely[t + 1])
    back[t] /= back[t].sum()
exact = (ahead * back) @ grid / (ahead * back).sum(1)

error = [np.sqrt(np.mean((mean - truth) ** 2)) for mean in (plain.mean, robust.mean, exact)]
print(f"RMSE: Gaussian noise {error[0]:.2f}, Student's t {error[1]:.2f}, exactly {error[2]:.2f}")
print(f"off the exact mean by at most {np.max(np.abs(robust.mean - exact) / robust.sd):.0e} sd")
assert error[1] < 0.6 * error[0] and error[1] < 1.05 * error[2] and np.max(np.abs(robust.mean - exact) / robust.sd) < 0.3

ax = dma.plots.band(None, range(steps), robust.mean, *robust.interval())
ax.plot(plain.mean, ":", color="red", label="with Gaussian noise")
ax.plot(truth, color="black", label="truth")
ax.plot(seen, ".", color="grey")
ax.set(ylim=(truth.min() - 3, truth.max() + 3), title="Student's t noise: median and 95 % band")
ax.legend()
plt.savefig("kalman_outliers.svg")
