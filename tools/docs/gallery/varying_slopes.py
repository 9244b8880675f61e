"""Varying slopes: who gets slower, by how much?

Reaction times of 18 people on ten days with little sleep (Belenky and others, 2003): a line for each, whose intercept
and slope are drawn from a Gaussian with an unknown covariance. Radon in houses of many counties is the same model.
Published for this table is what lme4 finds by REML: slope 10.47 +- 1.55, spreads 24.7 and 5.9, noise 25.6.
"""

import dma
import matplotlib.pyplot as plt
import numpy as np

times = np.loadtxt("tools/examples/data/sleepstudy.csv", delimiter=",", skiprows=1)[:, 1:]
people, days = times.shape
who = np.repeat(np.arange(people), days)
day = np.tile(np.arange(days), people)

g = dma.Graph()
line = g.gaussian_prior(g.variable("line", 2), [250, 0], variance=[1e4, 1e4])  # intercept and slope of the mean person
own, seen = g.variable("own", 2 * people), g.observed("seen", times.size)
spread = g.gaussian_vector_noise(dma.gather(line, [0, 1] * people), own, covariance=[[600, 0], [0, 36]])
slope = g.affine(dma.gather(own, 2 * who + 1), day, 0)
noise = g.factor("gaussian_noise", [g.add(dma.gather(own, 2 * who), slope), seen], variance=650)
solver = dma.joint(hypers=[dma.hyper("noise", "half_normal", [50], [(noise, "variance", 2)])])
spread.learn(solver, "spread", "half_normal", [50], 1)
answer = dma.solve(g, {seen: times.ravel()}, solver)

deviations = [dma.hyper_belief(answer.state, name).mean for name in ("spread.sd0", "spread.sd1", "noise")]
print(answer.report)
print(f"slope {answer[line].mean[1]:.2f} +- {answer[line].sd[1]:.2f}, spreads and noise", np.round(deviations, 1))
assert abs(answer[line].mean[1] - 10.467) < 0.1 and 1.4 < answer[line].sd[1] < 1.9  # REML takes the spreads for known
assert np.allclose(deviations, [24.7, 5.9, 25.6], rtol=0.15)

alone = np.polyfit(np.arange(days), times.T, 1)[0]  # a line through each person's own days
names = [str(i + 1) for i in range(people)]
low, high = answer[own].interval()
ax = dma.plots.intervals(None, names, answer[own].mean[1::2], low[1::2], high[1::2])
ax.plot(alone, np.arange(people)[::-1], "x", color="black")
ax.set(title="slopes: of each alone (x), and of all together", xlabel="ms a day", ylabel="person")
plt.savefig("varying_slopes.svg")
