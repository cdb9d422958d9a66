"""Random loop programs mean the same rolled and unrolled."""

import linecache

import pytest
from random_programs import compiled, source
from toy_kernel import check

BATCH = 25


@pytest.mark.parametrize("batch", range(8))
def test_rolled_is_unrolled(batch: int) -> None:
    """Seeds that failed are reproduced by `print(source(seed))`."""
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        try:
            check(compiled(seed), lenient=True)
        except AssertionError:
            pytest.fail(f"seed {seed}\n{source(seed)}")
        finally:
            linecache.cache.pop(f"<random program {seed}>", None)


def test_programs_roll() -> None:
    """The comparison says something: most programs keep loops of several iterations."""
    rolled = 0
    for seed in range(60):
        nodes = list(check(compiled(seed), lenient=True).root)
        while nodes:
            node = nodes.pop()
            if hasattr(node, "body"):
                nodes += node.body
                if hasattr(node, "bounds") and not node.single:
                    rolled += 1
                    break
    assert rolled > 20
