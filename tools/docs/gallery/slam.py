"""SLAM in two dimensions: where is the robot, and where are the landmarks?

A robot drives around a square, measures its steps badly, and sees three landmarks by range and bearing. All poses and
landmarks are solved together; the truth is known here, and must lie within the errors that are stated. More:
[Kalman filters and SLAM](../kalman_and_slam.md), and in C++ [slam.cpp](../../examples/slam.cpp).
"""

import dma
import matplotlib.pyplot as plt
import numpy as np

random = np.random.default_rng(4)
landmarks = np.array([[1, 1], [3, 2], [-1, 1.5]])
turns = np.where(np.arange(16) % 4 == 3, np.pi / 2, 0)
truth = np.zeros((17, 3))
for t in range(16):
    x, y, a = truth[t]
    truth[t + 1] = x + np.cos(a), y + np.sin(a), a + turns[t]
steps = np.column_stack([np.ones(16), np.zeros(16), turns]) + random.normal(0, [0.14, 0.14, 0.1], (16, 3))
seeing, seen = np.repeat(np.arange(17), 3), np.tile(np.arange(3), 17)
away = landmarks[seen] - truth[seeing, :2]
ranges = np.hypot(*away.T) + random.normal(0, 0.05, 51)
bearings = np.arctan2(away[:, 1], away[:, 0]) - truth[seeing, 2] + random.normal(0, 0.02, 51)

walk = np.zeros((17, 3))  # by the steps alone: where the solver starts
for t in range(16):
    x, y, a = walk[t]
    walk[t + 1] = x + np.cos(a) * steps[t, 0] - np.sin(a) * steps[t, 1], y + np.sin(a) * steps[t, 0] + np.cos(a) * steps[t, 1], a + steps[t, 2]

g = dma.Graph()
x, p = g.variable("x", 17, "pose2"), g.gaussian_prior(g.variable("p", 6), 0, variance=100)
g.point_prior(dma.gather(x, [0]), [0, 0, 0], covariance=1e-6 * np.eye(3))
g.between(dma.gather(x, range(16)), dma.gather(x, range(1, 17)), steps, covariance=np.diag([0.02, 0.02, 0.01]))
ends = dma.gather(x, seeing), dma.gather(p, np.column_stack([2 * seen, 2 * seen + 1]).ravel())
g.range(*ends, ranges, covariance=[[0.0025]])
g.bearing(*ends, bearings, covariance=[[0.0004]])
state = dma.State(plan := dma.compile(g, dma.joint()))
dma.set_start(state, x, walk.ravel())
dma.set_start(state, p, np.column_stack([ranges[:3] * np.cos(bearings[:3]), ranges[:3] * np.sin(bearings[:3])]).ravel())
print(dma.run(plan, state))
found, marks = state.belief(x), state.belief(p)
place, sd = found.mean.reshape(17, -1)[:, :2], found.sd.reshape(17, -1)[:, :2]
print(f"at the end off by {np.hypot(*(place[-1] - truth[-1, :2])):.3f}, by steps alone by {np.hypot(*(walk[-1] - truth[-1])[:2]):.2f}")
assert np.all(np.abs(place - truth[:, :2])[1:] < 3.5 * sd[1:]) and np.all(np.abs(marks.mean - landmarks.ravel()) < 3.5 * marks.sd)

ax = plt.subplots(figsize=(6, 5))[1]
for path, style, label in ((truth, "-", "truth"), (walk, ":", "its steps"), (place, "o-", "solved")):
    ax.plot(path[:, 0], path[:, 1], style, label=label)
ax.errorbar(*marks.mean.reshape(3, 2).T, *(2 * marks.sd.reshape(3, 2).T[::-1]), fmt="s", color="black", label="landmarks")
ax.set_aspect("equal")
ax.legend()
plt.savefig("slam.svg")
