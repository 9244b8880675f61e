"""A network for a table: what is y in new rows, and how sure is that?

200 rows of one input with noise, learned with the defaults. The truth is known: inside the data the mean must follow it, and 95 %
intervals must hold about 95 % of new values; outside the band must widen. More: [networks for tables](../tables.md).
"""

import dma
import matplotlib.pyplot as plt
import numpy as np

random = np.random.default_rng(7)


def truth(x):
    return np.sin(3 * x) + 0.5 * x


def rows(count):
    x = random.uniform(-2, 2, count)
    return x[:, None], truth(x) + random.normal(0, 0.2, count)


X, y = rows(200)
model = dma.Regressor(hidden=(20,), members=1).fit(X, y)
X_new, y_new = rows(1000)
mean, sd = model.predict(X_new, return_std=True)
low, high = model.predict_quantiles(X_new, [0.025, 0.975]).T
held = np.mean((low < y_new) & (y_new < high))
off = np.sqrt(np.mean((mean - truth(X_new[:, 0])) ** 2))
outside = model.predict([[4.0]], return_std=True)[1][0]
print(f"RMSE of the mean from the truth {off:.3f}, where the noise is 0.2; intervals hold {held:.1%}")
print(f"sd inside {sd.mean():.2f}, at x = 4 {outside:.2f}")
assert off < 0.1 and 0.92 < held < 0.98 and outside > 2 * sd.mean()

at = np.linspace(-4, 4, 161)[:, None]
ax = model.plot(at, np.full(161, np.nan))
ax.plot(X, y, ".", color="black", ms=3)
ax.plot(at, truth(at), "--", color="grey")
ax.set(ylim=(-6, 6), title="mean, 95 % of new values, and the truth (dashed)")
plt.savefig("table.svg")
