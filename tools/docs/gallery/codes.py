"""An error-correcting code: what was sent through the noise?

Ten bits and ten parity bits, each of three of them, go through a channel that flips one bit in ten. Sum-product
decoding sends messages around the loops of the code's graph; `exact()` joins its bits into cliques. The check counts
all 1,024 words.
"""

import itertools

import dma
import matplotlib.pyplot as plt
import numpy as np

random = np.random.default_rng(12)
checks = np.array([[i, (i + 1) % 10, (i + 3) % 10, 10 + i] for i in range(10)])  # the last is the sum of the others
data = random.integers(0, 2, 10)
sent = np.concatenate([data, data[checks[:, :3]].sum(1) % 2])
heard = sent ^ (random.random(20) < 0.1)

g = dma.Graph()
bit, got = g.variable("bit", 20, "categorical(2)"), g.observed("got", 20, "categorical(2)")
even = [1.0 - sum(bits) % 2 for bits in itertools.product([0, 1], repeat=4)]
g.factor("potential", [dma.gather(bit, column) for column in checks.T], weight=even)
g.factor("table", [bit, got], probability=[0.9, 0.1, 0.1, 0.9])
by_cliques = dma.solve(g, {got: heard}, dma.exact())
by_sweeps = dma.solve(g, {got: heard}, dma.flooding(damping=0.3))
one, roughly = by_cliques[bit].mean[:, 1], by_sweeps[bit].mean[:, 1]
print(by_cliques.report, by_sweeps.report, sep="\n")

words = np.array(list(itertools.product([0, 1], repeat=10)))
words = np.hstack([words, words[:, checks[:, :3]].sum(2) % 2])
weight = np.where(words == heard, 0.9, 0.1).prod(1)
counted = weight @ words / weight.sum()
print(f"flipped {np.sum(sent != heard)} of 20 bits; wrong after decoding {np.sum((one > 0.5) != sent)}")
print(f"off by counting: cliques {np.max(np.abs(one - counted)):.0e}, sweeps {np.max(np.abs(roughly - counted)):.2f}")
assert np.allclose(one, counted, atol=1e-9) and np.array_equal(one > 0.5, sent) and np.array_equal(roughly > 0.5, sent)

ax = plt.subplots(figsize=(7, 3), layout="constrained")[1]
ax.bar(range(20), one, color=["firebrick" if flipped else "steelblue" for flipped in sent != heard])
ax.plot(sent, "o", color="black", ms=4)
ax.set(title="P(bit = 1) after decoding, what was sent (dots), flipped bits in red", xlabel="bit")
plt.savefig("codes.svg")
