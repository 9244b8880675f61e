#!/usr/bin/env python3
"""scikit-learn on the splits of dma-lab uci: RMSE, log-likelihood, 95 % coverage, CPU seconds.

    OMP_NUM_THREADS=1 tools/experiments/baselines/scikit_learn.py FOLDER --splits 20

FOLDER is what `dma-lab uci` takes. Boosted trees say nothing of their errors: they have an RMSE only.
"""

import argparse
import pathlib
import time
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import BayesianRidge


def gaussian_process(columns: int) -> GaussianProcessRegressor:
    return GaussianProcessRegressor(ConstantKernel() * RBF(np.ones(columns)) + WhiteKernel(0.1))


MODELS = {
    "BayesianRidge": lambda columns: BayesianRidge(),
    "HistGradientBoosting": lambda columns: HistGradientBoostingRegressor(random_state=0),
    "GaussianProcess": gaussian_process,
}


def score(make, x, y, x_new, y_new):
    """Inputs and target are standardised by the training rows, as dma-lab does; scores are in the target's units."""
    start = time.process_time()
    centre, scale = x.mean(0), x.std(0)
    scale[scale == 0] = 1
    middle, unit = y.mean(), y.std()
    model = make(x.shape[1]).fit((x - centre) / scale, (y - middle) / unit)
    says_sd = not isinstance(model, HistGradientBoostingRegressor)
    found = model.predict((x_new - centre) / scale, **({"return_std": True} if says_sd else {}))
    mean, sd = found if says_sd else (found, np.full(len(y_new), np.nan))
    error, sd = y_new - middle - unit * mean, unit * sd
    z = error / sd
    log_likelihood = np.mean(-0.5 * z**2 - np.log(sd * np.sqrt(2 * np.pi)))
    inside = np.mean(np.abs(z) < 1.959964) if says_sd else np.nan
    return np.sqrt(np.mean(error**2)), log_likelihood, inside, time.process_time() - start


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--splits", type=int, default=20)
    options.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    given = options.parse_args()
    warnings.simplefilter("ignore")
    sets = [given.folder] if (given.folder / "data.txt").exists() else sorted(given.folder.glob("*/"))
    for folder in sets:
        data = np.loadtxt(folder / "data.txt")
        inputs, target = (np.loadtxt(folder / f"index_{name}.txt", dtype=int) for name in ("features", "target"))
        rows = [[np.loadtxt(folder / f"index_{part}_{i}.txt", dtype=int) for part in ("train", "test")]
                for i in range(given.splits)]
        for name in given.models:
            scores = np.array([score(MODELS[name], data[np.ix_(a, inputs)], data[a, target], data[np.ix_(b, inputs)],
                                     data[b, target]) for a, b in rows])
            rmse, log_likelihood, coverage, seconds = scores.mean(0)
            print(f"{folder.name:9} {name:21} RMSE {rmse:.3f}  log-likelihood {log_likelihood:.3f}  coverage "
                  f"{coverage:.3f}  {seconds:.2f} CPU s a split", flush=True)


if __name__ == "__main__":
    main()
