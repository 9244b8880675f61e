"""What a fit tells while it works: to a function, as a line that renews itself (terminals and notebooks alike), or nobody."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

Listener = Callable[[int, int, float, float], object]


def _show(member: int, epoch: int, log_likelihood: float, seconds: float) -> None:
    words = f"\rmember {member + 1}, epoch {epoch}: {log_likelihood:.4f} a row, {seconds:.1f} s"
    print(words, end="", file=sys.stderr, flush=True)


@contextmanager
def listener(verbose: Any) -> Iterator[Optional[Listener]]:
    if callable(verbose):
        yield verbose
    elif not verbose:
        yield None
    else:
        try:
            yield _show
        finally:
            print(file=sys.stderr, flush=True)
