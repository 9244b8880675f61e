"""TrueSkill: who is better, and who wins the next game?

Skills from games, with the usual numbers of TrueSkill. The published answer for one game between two new players is
29.396 +- 7.171 for the winner and 20.604 for the loser (Herbrich, Minka, Graepel, 2006). More: [games](../games.md), and in
C++ [rating.cpp](../../examples/rating.cpp).
"""

import dma
import matplotlib.pyplot as plt
import numpy as np

one = dma.rate([("winner", "loser")])
print("one game:", *(f"{name} {one[name][0]:.3f} +- {one[name][1]:.3f}" for name in one.players))
assert np.allclose([*one["winner"], *one["loser"]], [29.396, 7.171, 20.604, 7.171], atol=2e-3)

random = np.random.default_rng(3)
names, truth = ["Ann", "Ben", "Cy", "Dee", "Eva", "Fay"], np.array([32, 30, 27, 24, 20, 17])
games = []
for _ in range(60):
    a, b = random.choice(6, 2, replace=False)
    first, second = random.normal(truth[[a, b]], 25 / 6)
    games.append((names[a], names[b]) if first > second else (names[b], names[a]))
season = dma.rate(games)
win, draw, lose = season.chances("Ann", "Fay")
print(season.report)
print(f"Ann beats Fay with {win:.2f}")
inside = np.abs([season[name][0] - skill for name, skill in zip(names, truth)]) < 2 * np.array([season[name][1] for name in names])
assert inside.all() and win > 0.9

ax = season.plot()
ax.plot(truth, [ax.get_yticks()[[t.get_text() for t in ax.get_yticklabels()].index(name)] for name in names], "x", color="black")
ax.set(title="skills after 60 games, and in truth (x)")
plt.savefig("trueskill.svg")
