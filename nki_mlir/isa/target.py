"""The four hardware generations, their names, memory geometry and clocks.

Targets form one line, Tonga < Sunda < Cayman < CoreV4, and compare by version.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.names import unknown

KIB = 1024


@dataclass(frozen=True, order=True, kw_only=True)
class Target:
    """One generation of the NeuronCore.

    Sizes are in bytes, clocks in GHz (cycles per ns), transfer rates in bytes per ns. Only `version` takes part in
    comparison and hashing. Sources: Penguin reference, §2.0; BIR reference, §2.2 and §7.1; NKI ISA reference, §1.2,
    §1.3 and §1.8.
    """

    version: int
    name: str = field(compare=False)
    arch_level: int = field(compare=False)
    generation: str = field(compare=False)
    platform: str = field(compare=False)
    aliases: tuple[str, ...] = field(compare=False, repr=False)
    """Further names, beside name, generation and platform, by which files and users know this target."""

    partitions: int = field(default=128, compare=False, repr=False)
    sbuf_partition_bytes: int = field(compare=False, repr=False)
    sbuf_reserved_bytes: int = field(compare=False, repr=False)
    psum_partitions: int = field(default=128, compare=False, repr=False)
    psum_banks: int = field(default=8, compare=False, repr=False)
    psum_bank_bytes: int = field(default=2 * KIB, compare=False, repr=False)

    clocks: Mapping[str, float] = field(compare=False, repr=False)
    """Clock of the compute engines pe, act, dve and pool; a member of `Engine` is such a key."""

    dma_engines: int = field(default=16, compare=False, repr=False)
    dma_bytes_per_ns: float = field(compare=False, repr=False)
    """What one DMA engine achieves at its peak."""
    dma_peak_bytes_per_ns: float = field(compare=False, repr=False)
    """What one DMA engine could move in theory."""
    dma_fixed_ns: float = field(default=1300.0, compare=False, repr=False)
    """Latency of a transfer of any size: descriptor, synchronisation, semaphore."""
    hwdge_ns: float = field(default=600.0, compare=False, repr=False)
    """Time in which the hardware generates the descriptors of one DMA instruction."""

    @property
    def sbuf_usable_bytes(self) -> int:
        """Bytes of an SBUF partition that a kernel may use; the rest is the compiler's."""
        return self.sbuf_partition_bytes - self.sbuf_reserved_bytes

    @property
    def psum_partition_bytes(self) -> int:
        return self.psum_banks * self.psum_bank_bytes

    def __str__(self) -> str:
        return self.platform

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is the same object: the generations are these four."""
        return parse_target, (self.arch_level,)


def _clocks(*, pe: float, act: float, dve: float, pool: float) -> Mapping[str, float]:
    return MappingProxyType({"pe": pe, "act": act, "dve": dve, "pool": pool})


# No clock or DMA figure of Tonga is published; it takes those of Sunda, its next relative.
_SUNDA_CLOCKS = _clocks(pe=2.8, act=1.4, dve=1.12, pool=1.4)

TONGA = Target(
    version=1,
    name="tonga",
    arch_level=10,
    generation="gen1",
    platform="inf1",
    aliases=("inferentia",),
    sbuf_partition_bytes=96 * KIB,
    sbuf_reserved_bytes=0x4000,
    psum_partitions=64,
    psum_banks=4,
    clocks=_SUNDA_CLOCKS,
    dma_bytes_per_ns=17.0,
    dma_peak_bytes_per_ns=27.2,
)
SUNDA = Target(
    version=2,
    name="sunda",
    arch_level=20,
    generation="gen2",
    platform="trn1",
    aliases=("trainium", "inf2"),
    sbuf_partition_bytes=192 * KIB,
    sbuf_reserved_bytes=0x4000,
    clocks=_SUNDA_CLOCKS,
    dma_bytes_per_ns=17.0,
    dma_peak_bytes_per_ns=27.2,
)
# Penguin's cost model keeps Sunda's 1.4 GHz for Pool and gives CoreV4's DMA 57.5; the documented figures stand here.
CAYMAN = Target(
    version=3,
    name="cayman",
    arch_level=30,
    generation="gen3",
    platform="trn2",
    aliases=("trn3pre", "trn2n"),
    sbuf_partition_bytes=224 * KIB,
    sbuf_reserved_bytes=0x4008,
    clocks=_clocks(pe=2.4, act=1.2, dve=0.96, pool=1.2),
    dma_bytes_per_ns=23.0,
    dma_peak_bytes_per_ns=27.2,
)
CORE_V4 = Target(
    version=4,
    name="core_v4",
    arch_level=40,
    generation="gen4",
    platform="trn3",
    aliases=("corev4", "mariana"),
    sbuf_partition_bytes=256 * KIB,
    sbuf_reserved_bytes=0x4008,
    clocks=_clocks(pe=2.4, act=1.2, dve=1.2, pool=1.2),
    dma_bytes_per_ns=33.0,
    dma_peak_bytes_per_ns=38.4,
)

TARGETS = (TONGA, SUNDA, CAYMAN, CORE_V4)

TARGET_VARIABLE = "NEURON_PLATFORM_TARGET_OVERRIDE"

_BY_NAME = {n: t for t in TARGETS for n in (t.name, t.generation, t.platform, *t.aliases)}
_BY_LEVEL = {t.arch_level: t for t in TARGETS}


def parse_target(name: str | int) -> Target:
    """Returns the target of a name (in any case) or of an arch level (10, 20, 30, 40).

    Raises `NkiError` with close names if there is none.
    """
    if isinstance(name, int):
        target = _BY_LEVEL.get(name)
        if target is None:
            raise unknown("arch level", name, _BY_LEVEL)
        return target
    target = _BY_NAME.get(name.lower())
    if target is None:
        raise unknown("target", name, _BY_NAME)
    return target


def default_target() -> Target:
    """Returns the target to take when nothing names one: that of NEURON_PLATFORM_TARGET_OVERRIDE, else trn2."""
    name = os.environ.get(TARGET_VARIABLE)
    if not name:
        return CAYMAN
    try:
        return parse_target(name)
    except NkiError as error:
        raise NkiError(f"{TARGET_VARIABLE}: {error}") from error
