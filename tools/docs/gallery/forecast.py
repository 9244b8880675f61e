"""A forecast: how many passengers in the next two years?

Airline passengers by month (Box and Jenkins, 1976). The last 24 months are hidden, forecast, and compared; the yardstick
is the same month of the year before. Model, season and logarithms are chosen by `dma.smooth`. More: [series](../series.md),
and in C++ [series.cpp](../../examples/series.cpp).
"""

import csv

import dma
import matplotlib.pyplot as plt
import numpy as np

with open("tools/examples/data/airpassengers.csv") as file:
    table = list(csv.reader(file))[1:]
months, values = [row[0] for row in table], np.array([float(row[1]) for row in table])

series = dma.smooth(values[:-24], 24, times=months[:-24])
late = values[-24:]
error = np.sqrt(np.mean((series.forecast - late) ** 2))
naive = np.sqrt(np.mean((np.tile(values[-36:-24], 2) - late) ** 2))
held = np.mean((series.low[-24:] < late) & (late < series.high[-24:]))
print("models:", ", ".join(f"{name} ({weight:.0%})" for name, _, weight in series.models if weight > 0.005))
print(f"RMSE {error:.1f} (the year before: {naive:.1f}); 95 % intervals hold {held:.0%}")
assert error < 0.6 * naive and held >= 0.9

ax = series.plot()
ax.plot(range(len(values) - 24, len(values)), late, "x", color="red", label="hidden")
ax.set(title="passengers in thousands")
ax.legend()
plt.savefig("forecast.svg")
