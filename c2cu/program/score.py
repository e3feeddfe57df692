"""The score of a contest: which of two schedules is faster, as far as is known."""

from __future__ import annotations

from collections.abc import Iterable

CLEAR = 1.1  # times that one has to be faster in every pair to win before all are done


class Score:
    """Seconds an input that both schedules took, ``first`` and its rival ``second``: the k-th of one and the k-th of
    the other are a pair."""

    def __init__(self, fewest: int, most: int):
        """``most``: pairs after which the faster one wins; ``fewest``: those after which it does where it is clear."""
        self.first: list[float] = []
        self.second: list[float] = []
        self.fewest, self._most = fewest, most

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
        if not self.fewest <= len(ratios) < self._most:
            return len(ratios) >= self._most
        return min(ratios) > CLEAR or max(ratios) < 1 / CLEAR

    @property
    def second_is_next(self) -> bool:
        """Whose turn it is, where each does whole calls."""
        return self.fewest <= len(self.first) > len(self.second)

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
