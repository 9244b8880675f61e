#!/usr/bin/python3
"""Answers and times beside JAGS, lme4 and scikit-learn (tools/docs/peers.md): tools/experiments/baselines/peers.py [rounds]

Debian: r-cran-rjags r-cran-lme4 jags python3-sklearn. Models run in turns, so that all meet the same noise of the machine;
times are medians of processor time, without the start of R or Python.
"""

import subprocess
import sys
import time
import warnings

import dma
import numpy as np

warnings.simplefilter("ignore")
SLEEP = np.loadtxt("tools/examples/data/sleepstudy.csv", delimiter=",", skiprows=1)[:, 1:]
EFFECTS, ERRORS = [28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18]
RANDOM = np.random.default_rng(1)
INPUTS = RANDOM.uniform(-1, 1, (500, 3))
COUNTS = RANDOM.poisson(np.exp(INPUTS @ [0.5, -0.8, 0.3]))
PERSONS, ITEMS = 200, 5
RIGHT = RANDOM.uniform(size=(PERSONS, ITEMS)) < 1 / (1 + np.exp(np.linspace(-1, 1, ITEMS) - RANDOM.normal(0, 1.3, (PERSONS, 1))))

JAGS = {
    "schools": """model { mu ~ dnorm(0, 0.04); tau ~ dt(0, 0.04, 1) T(0,)
        for (i in 1:8) { theta[i] ~ dnorm(mu, pow(tau, -2)); y[i] ~ dnorm(theta[i], pow(s[i], -2)) } }""",
    "sleep": """model { a ~ dnorm(250, 1.0E-4); b ~ dnorm(0, 1.0E-4); sa ~ dnorm(0, 4.0E-4) T(0,); sb ~ dnorm(0, 4.0E-4) T(0,)
        r ~ dunif(-1, 1); noise ~ dnorm(0, 4.0E-4) T(0,)
        for (i in 1:n) { u[i] ~ dnorm(0, 1); v[i] ~ dnorm(0, 1)
          for (t in 1:10) { y[i,t] ~ dnorm(a + sa * u[i] + (b + sb * (r * u[i] + sqrt(1 - r * r) * v[i])) * (t - 1), pow(noise, -2)) } } }""",
    "poisson": """model { for (k in 1:3) { w[k] ~ dnorm(0, 1) }
        for (i in 1:500) { y[i] ~ dpois(exp(inprod(x[i,], w))) } }""",
    "rasch": """model { tau ~ dt(0, 0.04, 1) T(0,); for (i in 1:5) { b[i] ~ dnorm(0, 0.01) }
        for (p in 1:200) { theta[p] ~ dnorm(0, pow(tau, -2)); for (i in 1:5) { y[p,i] ~ dbern(ilogit(theta[p] - b[i])) } } }""",
}


def in_r(script):
    """Numbers that a script prints; it measures itself."""
    told = subprocess.run(["Rscript", "/dev/stdin"], input=script, capture_output=True, text=True, check=True).stdout
    return [float(word) for word in told.split()]


def jags(model, data, watched):
    """Mean and standard deviation of `watched`, and the seconds that 1,000 effective draws of it take."""
    seconds, mean, sd, effective = in_r(f"""suppressMessages(library(rjags))
        t <- system.time({{ m <- jags.model(textConnection("{JAGS[model]}"), list({data}), n.chains = 4, quiet = TRUE)
          update(m, 1000, progress.bar = "none"); s <- coda.samples(m, "{watched}", 5000, progress.bar = "none") }})[1:2]
        x <- as.matrix(s)[, 1]; cat(sum(t), mean(x), sd(x), effectiveSize(s)[1])""")
    return mean, sd, seconds * 1000 / effective


def of_r(values):
    return f"c({', '.join(f'{value:.10g}' for value in np.ravel(values))})"


def schools():
    g = dma.Graph()
    mu = g.gaussian_prior(g.variable("mu"), 0, variance=25)
    theta, y = g.variable("theta", 8), g.observed("y", 8)
    spread = g.factor("gaussian_noise", [dma.all_to_one(mu), theta], variance=1)
    g.factor("gaussian_noise", [theta, y], variance=np.square(ERRORS))
    found = dma.hyper_belief(dma.solve(g, {y: EFFECTS}, dma.joint(hypers=[dma.hyper("tau", "half_cauchy", [5], [(spread, "variance", 2)])])).state, "tau")
    return found.mean, found.sd


def sleep():
    people, days = SLEEP.shape
    who, day = np.repeat(np.arange(people), days), np.tile(np.arange(days), people)
    g = dma.Graph()
    line = g.gaussian_prior(g.variable("line", 2), [250, 0], variance=1e4)
    own, seen = g.variable("own", 2 * people), g.observed("seen", SLEEP.size)
    spread = g.gaussian_vector_noise(dma.gather(line, [0, 1] * people), own, covariance=[[600, 0], [0, 36]])
    slope = g.affine(dma.gather(own, 2 * who + 1), day, 0)
    noise = g.factor("gaussian_noise", [g.add(dma.gather(own, 2 * who), slope), seen], variance=650)
    solver = dma.joint(hypers=[dma.hyper("noise", "half_normal", [50], [(noise, "variance", 2)])])
    spread.learn(solver, "spread", "half_normal", [50], 1)
    belief = dma.solve(g, {seen: SLEEP.ravel()}, solver)[line]
    return belief.mean[1], belief.sd[1]


def poisson():
    g = dma.Graph()
    w, y = g.gaussian_prior(g.variable("w", 3), 0, variance=1), g.observed("y", 500)
    g.factor("poisson", [g.linear(w, INPUTS.ravel()), y])
    belief = dma.solve(g, {y: COUNTS})[w]
    return belief.mean[0], belief.sd[0]


def rasch():
    g = dma.Graph()
    zero, theta, y = g.observed("zero"), g.variable("theta", PERSONS), g.observed("y", PERSONS * ITEMS)
    spread = g.factor("gaussian_noise", [dma.all_to_one(zero), theta], variance=1)
    hard = g.gaussian_prior(g.variable("hard", ITEMS), 0, variance=100)
    who, which = np.repeat(np.arange(PERSONS), ITEMS), np.tile(np.arange(ITEMS), PERSONS)
    g.factor("logistic", [theta[who.tolist()] - hard[which.tolist()], y])
    tau = dma.hyper("tau", "half_cauchy", [5], [(spread, "variance", 2)])
    found = dma.hyper_belief(dma.solve(g, {zero: 0, y: RIGHT.ravel()}, dma.joint(hypers=[tau])).state, "tau")
    return found.mean, found.sd


def lmer():
    seconds, mean, sd = in_r("""suppressMessages(library(lme4)); t <- system.time(for (i in 1:10)
        m <- lmer(Reaction ~ Days + (Days | Subject), sleepstudy))[1:2] / 10; cat(sum(t), summary(m)$coefficients[2, 1:2])""")
    return mean, sd, seconds


def glm():
    seconds, mean, sd = in_r(f"""x <- matrix({of_r(INPUTS)}, ncol = 3, byrow = TRUE); y <- {of_r(COUNTS)}
        t <- system.time(for (i in 1:100) m <- glm(y ~ x - 1, family = poisson()))[1:2] / 100
        cat(sum(t), summary(m)$coefficients[1, 1:2])""")
    return mean, sd, seconds


def timed(work):
    def run():
        start = time.process_time()
        found = work()
        return *found, time.process_time() - start

    return run


def tables():
    """Five folds of scikit-learn's diabetes table: RMSE and coverage of 95 % intervals, by each estimator."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.linear_model import BayesianRidge
    from sklearn.model_selection import KFold

    X, y = load_diabetes(return_X_y=True)
    X = X / X.std(0)
    kernel = ConstantKernel(1.0) * RBF(np.full(10, 3.0), (0.1, 1e3)) + WhiteKernel(0.5)

    def folds(make, has_sd):
        squares, inside = [], []
        for train, test in KFold(5, shuffle=True, random_state=1).split(X):
            model = make().fit(X[train], y[train])
            mean, sd = model.predict(X[test], return_std=True) if has_sd else (model.predict(X[test]), np.nan)
            squares += list((mean - y[test]) ** 2)
            inside += list(np.abs(mean - y[test]) < 1.96 * sd)
        return np.sqrt(np.mean(squares)), np.mean(inside) if has_sd else np.nan

    return {
        "dma.Regressor": timed(lambda: folds(dma.Regressor, True)),
        "BayesianRidge": timed(lambda: folds(BayesianRidge, True)),
        "GaussianProcess": timed(lambda: folds(lambda: GaussianProcessRegressor(kernel, normalize_y=True), True)),
        "HistGradientBoosting": timed(lambda: folds(HistGradientBoostingRegressor, False)),
    }


sleep_data = f"n = 18, y = matrix({of_r(SLEEP)}, ncol = 10, byrow = TRUE)"
count_data = f"x = matrix({of_r(INPUTS)}, ncol = 3, byrow = TRUE), y = {of_r(COUNTS)}"
MODELS = {
    "eight schools, the spread tau": {
        "dma": timed(schools), "JAGS": lambda: jags("schools", f"y = {of_r(EFFECTS)}, s = {of_r(ERRORS)}", "tau")},
    "sleepstudy, the mean slope": {"dma": timed(sleep), "lme4": lmer, "JAGS": lambda: jags("sleep", sleep_data, "b")},
    "Poisson regression, the first weight": {"dma": timed(poisson), "glm": glm, "JAGS": lambda: jags("poisson", count_data, "w")},
    "Rasch, 200 persons, 5 items, the spread tau": {
        "dma": timed(rasch), "JAGS": lambda: jags("rasch", f"y = matrix({of_r(RIGHT)}, ncol = 5, byrow = TRUE)", "tau")},
    "diabetes table, five folds (RMSE, coverage)": tables(),
}  # fmt: skip

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
found = {model: {name: [] for name in ways} for model, ways in MODELS.items()}
for _ in range(rounds):
    for model, ways in MODELS.items():
        for name, way in ways.items():
            found[model][name].append(way())
print("| model | by | answer | time, dma = 1 |\n|---|---|---|---|")
for model, ways in found.items():
    own = np.median([seconds for *_, seconds in next(iter(ways.values()))])
    for name, runs in ways.items():
        mean, sd, seconds = np.median(runs, axis=0)
        print(f"| {model} | {name} | {mean:.4g}, {sd:.3g} | {seconds / own:.2g} |")
    print(f"dma took {own:.3f} s", file=sys.stderr)
