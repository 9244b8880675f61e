"""A hidden Markov model: when was the die loaded?

Somebody throws a fair die and now and then takes a loaded one, on which half of all throws are sixes (Durbin, Eddy,
Krogh, Mitchison, 1998). Which die was it, throw by throw? Both must agree: the recursions by hand, and enumeration of
all 2^10 ways for the first ten throws. More: [regimes](../regimes.md).
"""

import itertools

import dma
import matplotlib.pyplot as plt
import numpy as np

change = np.array([[0.95, 0.05], [0.1, 0.9]])
faces = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])
random = np.random.default_rng(2)
die, dice, throws = 0, [], []
for _ in range(200):
    dice.append(die)
    throws.append(random.choice(6, p=faces[die]))
    die = random.choice(2, p=change[die])

model = dma.HiddenMarkov([0.5, 0.5], change, symbols=faces)
found = model.decode(throws)
right = np.mean((found.probability[:, 1] > 0.5) == np.array(dice))
print(f"log evidence {found.log_evidence:.3f}; the likelier die is right in {right:.0%} of throws")

total, loaded = 0.0, np.zeros(10)
for path in itertools.product([0, 1], repeat=10):
    chance = 0.5 * np.prod(change[path[:-1], path[1:]]) * np.prod(faces[path, throws[:10]])
    total += chance
    loaded += chance * np.array(path)
first = model.decode(throws[:10])
assert np.allclose(first.probability[:, 1], loaded / total) and np.isclose(first.log_evidence, np.log(total))
assert right > 0.75

ax = found.plot(names=["fair", "loaded"])
ax.plot(1 - np.array(dice), ".", color="black", ms=3)
ax.set(title="which die: probability, and in truth (dots: low is loaded)", xlabel="throw")
plt.savefig("hidden_markov.svg")
