"""Threads, Ctrl-C, and what a fit keeps when it is stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import dma
import numpy as np
import pytest

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(60, 3))
Y = np.sin(X[:, 0]) + 0.1 * RANDOM.normal(size=60)


def test_the_lock_is_released_while_a_fit_works() -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    during: list[int] = []
    dma.Regressor(hidden=(20,), neighbours=False, verbose=lambda *epoch: during.append(counted)).fit(X, Y)
    done.set()
    thread.join()
    assert during[-1] > during[0]  # the other thread went on between the first epoch and the last


def test_many_threads_fit_and_predict_at_once() -> None:
    model = dma.Regressor(hidden=(5,), members=1).fit(X, Y)
    alone = model.predict_quantiles(X[:20])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: model.predict_quantiles(X[:20]), range(16)))
        fitted = list(pool.map(lambda _: dma.Regressor(hidden=(5,), members=1).fit(X[:30], Y[:30]).predict(X), range(4)))
    for one in found:
        np.testing.assert_array_equal(one, alone)
    for one in fitted:
        np.testing.assert_array_equal(one, fitted[0])


def test_control_c_stops_a_fit_and_keeps_what_was_learned() -> None:
    epochs: list[int] = []

    def interrupt(member: int, epoch: int, log_likelihood: float, seconds: float) -> None:
        epochs.append(epoch)
        if len(epochs) == 3:
            signal.raise_signal(signal.SIGINT)

    model = dma.Regressor(members=2, verbose=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert len(epochs) <= 4
    assert model.predict(X).shape == (60,) and model.score(X, Y) > 0
    assert "interrupted" in model.summary()


def test_a_real_signal_ends_a_long_fit() -> None:
    program = """
import numpy as np, dma
X = np.random.default_rng(1).normal(size=(400, 5))
model = dma.Regressor(hidden=(30, 30), method="hybrid", epochs=100000, least_gain=0.0, verbose=lambda *e: print(e[1], flush=True))
try:
    model.fit(X, X[:, 0] ** 2)
except KeyboardInterrupt:
    print("kept", model.predict(X[:2]).shape)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "1"
    time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    rest, _ = child.communicate(timeout=120)
    assert "kept (2,)" in rest and child.returncode == 0


def test_what_a_callback_raises_comes_out_as_it_is() -> None:
    class Mine(Exception):
        pass

    def refuse(*epoch: object) -> None:
        raise Mine("enough")

    model = dma.Regressor(members=1, verbose=refuse)
    with pytest.raises(Mine, match="enough") as error:
        model.fit(X, Y)
    assert error.traceback[-1].name == "refuse"
    assert model.predict(X).shape == (60,)


def test_progress_is_a_line_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    dma.Regressor(members=1, hidden=(3,), verbose=True).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("\rmember 1, epoch 1: ") and err.endswith("\n")
