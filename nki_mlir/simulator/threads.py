"""One BLAS thread while programs run: faster for tiles, and the number of threads changes the bits of a product."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> Any:
    """Returns the controller of the BLAS libraries; finding them costs twenty times what setting a limit does."""
    np.matmul(np.ones((1, 1), np.float32), np.ones((1, 1), np.float32))
    controller: Any = ThreadpoolController()
    return controller.select(user_api="blas")


class _Limit:
    """The limit of the process, in force while any of its threads runs a program."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.running = 0
        self.held = ExitStack()

    def enter(self) -> None:
        with self.lock:
            if self.running == 0:
                self.held.enter_context(_controller().limit(limits=1))
            self.running += 1

    def leave(self) -> None:
        with self.lock:
            self.running -= 1
            if self.running == 0:
                self.held.close()


_limit = _Limit()


@contextmanager
def one_blas_thread() -> Generator[None]:
    """Makes matrix products use one thread; the number from before holds again when the last program has ended."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()
