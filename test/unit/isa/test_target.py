"""The target lattice, its names and its geometry."""

import itertools

import pytest

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.enums import Engine
from nki_mlir.isa.target import CAYMAN, CORE_V4, SUNDA, TARGETS, TONGA, default_target, parse_target

ALIASES = {
    TONGA: "tonga gen1 inf1 inferentia",
    SUNDA: "sunda gen2 trn1 trainium inf2",
    CAYMAN: "cayman gen3 trn2 trn3pre trn2n",
    CORE_V4: "core_v4 corev4 gen4 trn3 mariana",
}


def test_targets_form_one_line() -> None:
    assert TARGETS == (TONGA, SUNDA, CAYMAN, CORE_V4)
    for (i, a), (j, b) in itertools.product(enumerate(TARGETS), repeat=2):
        assert (a < b, a <= b, a == b, a >= b, a > b) == (i < j, i <= j, i == j, i >= j, i > j)
    assert len(set(TARGETS)) == 4
    assert max(TARGETS) is CORE_V4


def test_every_alias_in_any_case() -> None:
    for target, names in ALIASES.items():
        for name in names.split():
            assert parse_target(name) is target
            assert parse_target(name.upper()) is target
            assert parse_target(name.title()) is target


def test_levels_versions_and_platforms() -> None:
    assert [parse_target(level) for level in (10, 20, 30, 40)] == list(TARGETS)
    assert [t.arch_level for t in TARGETS] == [10, 20, 30, 40]
    assert [t.version for t in TARGETS] == [1, 2, 3, 4]
    assert [t.generation for t in TARGETS] == ["gen1", "gen2", "gen3", "gen4"]
    assert [str(t) for t in TARGETS] == ["inf1", "trn1", "trn2", "trn3"]
    # The way back from a target to its name gives the same target.
    assert [parse_target(t.platform) for t in TARGETS] == list(TARGETS)


@pytest.mark.parametrize("name", ["v1", "v2", "gen5", "core_v5", "", "30"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(NkiError, match=f"^unknown target '{name}'"):
        parse_target(name)


def test_messages() -> None:
    with pytest.raises(NkiError) as caught:
        parse_target("Caiman")
    assert str(caught.value) == "unknown target 'Caiman'; did you mean 'cayman'?"
    with pytest.raises(NkiError) as caught:
        parse_target(50)
    assert str(caught.value) == "unknown arch level 50; known: 10, 20, 30, 40"


def test_default_target(monkeypatch: pytest.MonkeyPatch) -> None:
    variable = "NEURON_PLATFORM_TARGET_OVERRIDE"
    monkeypatch.delenv(variable, raising=False)
    assert default_target() is CAYMAN
    monkeypatch.setenv(variable, "TRN1")
    assert default_target() is SUNDA
    monkeypatch.setenv(variable, "trn9")
    with pytest.raises(NkiError, match=r"^NEURON_PLATFORM_TARGET_OVERRIDE: unknown target 'trn9'; did you mean"):
        default_target()


def test_memory_geometry() -> None:
    # The published totals are over all partitions, in MiB; the usable bytes are published as such.
    assert [t.sbuf_partition_bytes * t.partitions / 2**20 for t in TARGETS] == [12, 24, 28, 32]
    assert [t.sbuf_usable_bytes for t in TARGETS[1:]] == [180224, 212984, 245752]
    assert TONGA.sbuf_usable_bytes == 80 * 1024
    assert [t.psum_partition_bytes * t.psum_partitions / 2**20 for t in TARGETS] == [0.5, 2, 2, 2]
    # A bank holds 512 fp32 values a partition everywhere.
    assert {t.psum_bank_bytes // 4 for t in TARGETS} == {512}
    assert [t.psum_banks for t in TARGETS] == [4, 8, 8, 8]


def test_clocks_give_the_published_peak() -> None:
    # TFLOPS of one core in bf16: two operations, 128 x 128 cells, the clock.
    peaks = [2 * 128 * 128 * t.clocks[Engine.PE] / 1000 for t in TARGETS[1:]]
    assert [round(p, 1) for p in peaks] == [91.8, 78.6, 78.6]
    assert [t.clocks[Engine.DVE] for t in TARGETS[1:]] == [1.12, 0.96, 1.2]
    assert [t.clocks[Engine.ACT] for t in TARGETS[1:]] == [1.4, 1.2, 1.2]
    assert [t.clocks[Engine.POOL] for t in TARGETS[1:]] == [1.4, 1.2, 1.2]


def test_dma_figures_give_the_published_aggregate() -> None:
    assert [t.dma_engines * t.dma_bytes_per_ns for t in TARGETS[1:]] == [272, 368, 528]
    assert all(t.dma_peak_bytes_per_ns > t.dma_bytes_per_ns for t in TARGETS)
    # One engine moves 32 KiB on Trn2 in 1416 ns: the documentation's own example.
    assert 32 * 1024 / CAYMAN.dma_bytes_per_ns == pytest.approx(1416, rel=0.01)
    assert {(t.dma_fixed_ns, t.hwdge_ns) for t in TARGETS} == {(1300.0, 600.0)}
