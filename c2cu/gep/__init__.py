"""Loops of Gaussian-elimination type: for k, for i, for j: ``X[i][j] = f(X[i][j], X[i][k], X[k][j], X[k][k])``.

Floyd-Warshall, transitive closure, LU without pivoting, Gauss-Jordan (Buluc, Gilbert, Budak 2009, section 2).
`recognise` finds them in the flat IR whatever their spelling; `form` says what is kept of one.
"""

from .form import Gep, NotGep, Part, Place, Range
from .recognise import recognise

__all__ = ["Gep", "NotGep", "Part", "Place", "Range", "recognise"]
