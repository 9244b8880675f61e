"""Survival: how much longer, when some are still alive?

Weeks of remission of 42 patients with leukaemia, half of them on the drug 6-MP (Freireich and others, 1963); twelve were
still in remission at the end, so that their time is a lower bound. Published is the Weibull regression by maximum
likelihood: the drug multiplies times by exp(1.267 +- 0.311), and the shape is 1 / 0.732. Its factor is `weibull`; counts
work alike with `poisson`, in C++ [regressions.cpp](../../examples/regressions.cpp).
"""

import dma
import matplotlib.pyplot as plt
import numpy as np

drug = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
still = [0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1]
control = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]
weeks, is_bound = np.array(drug + control), np.array(still + [0] * 21)
treated = np.repeat([1.0, 0.0], 21)

g = dma.Graph()
w = g.gaussian_prior(g.variable("w", 2), 0, variance=100)  # log scale of the control group, effect of the drug
y = g.observed("y", 42)
g.factor("weibull", [g.linear(w, np.column_stack([np.ones(42), treated]).ravel()), y], shape=1 / 0.732, censored=is_bound)
answer = dma.solve(g, {y: weeks})
effect, sd = answer[w].mean[1], answer[w].sd[1]
print(answer.report)
print(f"effect {effect:.3f} +- {sd:.3f}: {np.exp(effect):.1f} times as long")
assert abs(effect - 1.267) < 0.1 and abs(sd - 0.311) < 0.03

ax = plt.subplots(figsize=(7, 4), layout="constrained")[1]
at, level = np.linspace(0, 36, 200), answer[w].mean
for group, name, color in ((1, "6-MP", "C0"), (0, "control", "C1")):
    ax.plot(at, np.exp(-((at / np.exp(level[0] + group * level[1])) ** (1 / 0.732))), color=color, label=name)
    alive, here = 1.0, treated == group  # Kaplan and Meier's estimate beside it
    steps = [(0, 1.0)]
    for t in np.unique(weeks[here]):
        alive *= 1 - np.sum((weeks == t) & here & (is_bound == 0)) / np.sum((weeks >= t) & here)
        steps.append((t, alive))
    ax.step(*np.transpose(steps), where="post", color=color, ls=":")
ax.set(xlabel="weeks", ylabel="still in remission")
ax.legend()
plt.savefig("survival.svg")
