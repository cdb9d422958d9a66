"""One BLAS thread while a program runs: faster for tiles, and the number of threads changes the bits of a product."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> Any:
    """Returns the controller of the BLAS libraries; finding them costs twenty times what setting a limit does."""
    np.matmul(np.ones((1, 1), np.float32), np.ones((1, 1), np.float32))
    controller: Any = ThreadpoolController()
    return controller.select(user_api="blas")


def one_blas_thread() -> AbstractContextManager[object]:
    """Returns the context in which matrix products use one thread; the number from before holds again afterwards."""
    return _controller().limit(limits=1)
