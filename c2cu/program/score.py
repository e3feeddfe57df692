"""The score of a contest: which of two schedules is faster, as far as is known."""

from __future__ import annotations

from collections.abc import Iterable

FEWEST = 3  # pairs, before anything is decided


class Score:
    """Seconds an input that both schedules took, ``first`` and its rival ``second``: the k-th of one and the k-th of
    the other are a pair."""

    def __init__(self, most: int, clear: float):
        """``most``: pairs after which the faster one wins. ``clear``: times that one has to be faster in every pair to
        win before that."""
        self.first: list[float] = []
        self.second: list[float] = []
        self._most, self._clear = most, clear

    @property
    def ratios(self) -> list[float]:
        return [b / a for a, b in zip(self.first, self.second)]

    @property
    def second_leads(self) -> bool:
        """Whether the rival is the faster one."""
        return bool(self.ratios) and median(self.ratios) < 1

    @property
    def settled(self) -> bool:
        ratios = self.ratios
        if not FEWEST <= len(ratios) < self._most:
            return len(ratios) >= self._most
        return min(ratios) > self._clear or max(ratios) < 1 / self._clear

    @property
    def second_is_next(self) -> bool:
        """Whose turn it is, where each does whole calls."""
        return FEWEST <= len(self.first) > len(self.second)

    @property
    def difference(self) -> float:
        """Seconds an input by which the slower one is slower."""
        return abs(median(self.second) - median(self.first)) if self.ratios else 0.0

    @property
    def loss(self) -> float:
        """Seconds an input that the slower one has lost once it has been timed once more."""
        return self.difference * (len(self.first if self.second_leads else self.second) + 1)


def median(numbers: Iterable[float]) -> float:
    from statistics import median  # which imports fractions and decimals

    return median(numbers)
