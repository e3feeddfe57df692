"""What glibc's generators of random numbers go on from."""

from __future__ import annotations

import numpy


def after_srand(seeds: numpy.ndarray) -> numpy.ndarray:
    """``rand``'s 31 numbers after ``srand`` of each of the seeds, uint32 (n,), and the place of the one that comes
    next: int32 (n, 32)."""
    numbers = numpy.empty((len(seeds), 32), numpy.int32)
    x = numpy.where(seeds == 0, 1, seeds.view(numpy.int32)).astype(numpy.int64)
    for k in range(31):
        numbers[:, k] = x
        quotient = numpy.trunc(x / 127773).astype(numpy.int64)  # as C divides
        x = 16807 * (x - quotient * 127773) - 2836 * quotient
        x = numpy.where(x < 0, x + 2147483647, x)
    unsigned = numbers.view(numpy.uint32)
    for k in range(3, 313):
        unsigned[:, k % 31] += unsigned[:, (k - 3) % 31]
    numbers[:, 31] = 3
    return numbers


def first_numbers() -> list[int]:
    """The 31 numbers where nothing has called ``srand``, as after the seed 1."""
    return after_srand(numpy.ones(1, numpy.uint32))[0, :31].tolist()


def after_srand48(seeds: numpy.ndarray) -> numpy.ndarray:
    """``drand48``'s number after ``srand48`` of each of the seeds, uint32 (n,): uint64 (n,)."""
    return seeds.astype(numpy.uint64) << numpy.uint64(16) | numpy.uint64(0x330E)
