"""Games, clusters, regimes and tables with gaps: the C++ models with arguments as Python has them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _dma, plots

Floats = npt.NDArray[np.float64]
Player = Hashable


def numbers_of(name: str, values: Any, dimensions: int, missing: bool = False) -> Floats:
    """An array of numbers with so many dimensions; None becomes NaN where a value may be missing."""
    found = np.asarray(values)
    if found.dtype.kind not in "biufO" or found.ndim != dimensions:
        what = {1: "numbers in a row", 2: "rows of numbers"}[dimensions]
        raise _dma.Error(f"{name}: {_dma.shown(values)} is given; {what} are expected")
    try:
        found = found.astype(np.float64)
    except (TypeError, ValueError):
        raise _dma.Error(f"{name}: {_dma.shown(values)} is given; numbers are expected") from None
    if np.isinf(found).any() or (not missing and np.isnan(found).any()):
        raise _dma.Error(f"{name} holds NaN or infinity; finite numbers are expected{', NaN where one is missing' if missing else ''}")
    return found


def brief(self: Any) -> str:
    """A line for each field or property: an array by its shape, unless it is short."""
    names = [one.name for one in fields(self) if one.repr] if is_dataclass(self) else [
        name for name, member in vars(type(self)).items() if isinstance(member, property)]  # fmt: skip
    return "\n".join([f"dma.{type(self).__name__}", *(f"  {name}: {_brief(getattr(self, name))}" for name in names)])


for owner in (_dma.Factorisation, _dma.Mixture, _dma.Switched):
    setattr(owner, "__repr__", brief)


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(value) if value.size <= 6 and value.ndim == 1 else f"{' x '.join(map(str, value.shape))} numbers"
    text = f"{len(value)} of them" if isinstance(value, list) and len(value) > 6 else str(value)
    return text if len(text) <= 200 else text[:200] + "..."


def gaussian_mixture(
    X: npt.ArrayLike, components: Optional[int] = None, *, most_components: int = 8, starts: int = 5,
    tolerance: float = 1e-6, limit: int = 500, seed: int = 1,
) -> _dma.Mixture:  # fmt: skip
    """Rows of numbers as a mixture of Gaussians, as many as the evidence is for unless ``components`` says how many."""
    rows = numbers_of("X", X, 2)
    return _dma.fit_mixture(rows, components or 0, most_components, starts, tolerance, limit, seed)


def factorise(
    values: npt.ArrayLike, rank: int = 2, *, noise_variance: Optional[float] = None,
    factor_variance: Optional[float] = None, starts: int = 3, seed: int = 1,
) -> _dma.Factorisation:  # fmt: skip
    """Fills the gaps (NaN or None) of a table. Factors have mean 0: take the table's mean away first."""
    table = numbers_of("values", values, 2, missing=True)
    return _dma.fit_table_with_gaps(table, rank, noise_variance, factor_variance, starts, seed)


def switching(
    values: npt.ArrayLike, regimes: Sequence[Sequence[npt.ArrayLike]], *, start: npt.ArrayLike, transition: npt.ArrayLike,
    mean: npt.ArrayLike, covariance: npt.ArrayLike, order: Optional[int] = 2,
) -> _dma.Switched:  # fmt: skip
    """A vector that moves and is read by one of several linear rules at a time, and a Markov chain that chooses the rule.

    A regime is ``(a, q, h, r)``: x[t] = a x[t-1] + N(0, q), y[t] = h x[t] + N(0, r). ``values`` has a row for each step,
    NaN where one is missing. Paths that agree in their last ``order`` regimes are merged; None: none, which is exact.
    """
    rows = np.asarray(values)
    table = numbers_of("values", rows[:, None] if rows.ndim == 1 else rows, 2, missing=True)
    if any(len(regime) != 4 for regime in regimes):
        raise _dma.Error("regimes: four matrices are expected for each, (a, q, h, r)")
    return _dma.switched(table, [list(regime) for regime in regimes], start, transition, mean, covariance, order)


@dataclass(frozen=True)
class Game:
    """Teams, each a player or a list of them, the best first unless ``ranks`` say otherwise (equal ones drew).

    ``shares`` are the fractions of the game that the players of each team took part in, ``time`` is when it was played.
    """

    teams: Sequence[Any]
    ranks: Optional[Sequence[float]] = None
    time: Optional[float] = None
    shares: Optional[Sequence[Sequence[float]]] = None


def _players_of(team: Any) -> list[Player]:
    return list(team) if isinstance(team, (list, tuple, set, frozenset)) else [team]


class _Skills:
    """Questions about skills by the names of players."""

    _rated: Union[_dma.Rated, _dma.OnlineRating]
    _numbers: Mapping[Player, int]

    def _of(self, team: Any) -> list[int]:
        unknown = [player for player in _players_of(team) if player not in self._numbers]
        if unknown:
            raise _dma.Error(f"{unknown[0]!r} played no game of this season")
        return [self._numbers[player] for player in _players_of(team)]

    def __getitem__(self, player: Player) -> tuple[float, float]:
        """Mean and standard deviation of a player's skill."""
        return self._rated.skill(self._of([player])[0])

    def chances(self, first: Any, second: Any) -> tuple[float, float, float]:
        """That the first player or team wins, draws, loses the next game against the second."""
        return self._rated.chances(self._of(first), self._of(second))

    def match_quality(self, *teams: Any) -> float:
        """How even a game of these teams would be, up to 1."""
        return self._rated.match_quality([self._of(team) for team in teams])

    def _best_first(self) -> list[tuple[float, float, str]]:
        return sorted(((*self[player], str(player)) for player in self._numbers), key=lambda one: -one[0])

    def plot(self, ax: Any = None) -> Any:
        """The skill of each player with its 95 % interval, the best on top."""
        players = self._best_first()
        if not players:
            raise _dma.Error("plot: no player has a skill; rate some games first")
        mean, sd, names = zip(*players)
        return plots.intervals(ax, names, mean, np.subtract(mean, np.multiply(1.96, sd)), np.add(mean, np.multiply(1.96, sd)))

    def _repr_html_(self) -> str:
        from .pictures import table

        return table(["player", "skill", "2.5 %", "97.5 %"],
                     [[name, *(f"{mean + z * sd:.1f}" for z in (0, -1.96, 1.96))] for mean, sd, name in self._best_first()])  # fmt: skip


@dataclass(frozen=True, repr=False)
class Season(_Skills):
    """Skills after the last game of each player, by name."""

    players: list[Player]
    mean: Floats
    sd: Floats
    report: _dma.Report
    _rated: _dma.Rated = field(repr=False)
    _numbers: Mapping[Player, int] = field(repr=False)

    __repr__ = brief

    def covariance(self, a: Player, b: Player) -> float:
        """Covariance of two players' skills; 0 where the season was solved by sweeps."""
        return self._rated.covariance(self._of([a])[0], self._of([b])[0])

    @property
    def history(self) -> list[tuple[int, Player, float, float]]:
        """Game (from 0), player, mean and standard deviation of the skill then."""
        return [(game, self.players[who], mean, sd) for game, who, mean, sd in self._rated.history]


_Team = tuple[list[int], float, list[float]]


def _game_of(i: int, one: Any, number: Callable[[Player], int]) -> tuple[list[_Team], Optional[float]]:
    """A game as the compiled half wants it: players by number."""
    if isinstance(one, str) or not isinstance(one, (Game, Sequence)):
        raise _dma.Error(f"game {i} is {one!r}; a list of teams, the winner first, or a dma.Game is expected")
    game = one if isinstance(one, Game) else Game(one)
    ranks = range(len(game.teams)) if game.ranks is None else game.ranks
    shares: Sequence[Sequence[float]] = [[]] * len(game.teams) if game.shares is None else game.shares
    if not len(ranks) == len(shares) == len(game.teams):
        raise _dma.Error(f"game {i} has {len(game.teams)} teams, {len(ranks)} ranks and {len(shares)} lists of shares")
    all_players = [player for team in game.teams for player in _players_of(team)]
    twice = [player for player in all_players if all_players.count(player) > 1]
    if twice:
        raise _dma.Error(f"game {i}: {twice[0]!r} appears twice; a player is in one team, once")
    return [([number(player) for player in _players_of(team)], float(rank), list(part))
            for team, rank, part in zip(game.teams, ranks, shares)], game.time  # fmt: skip


def _games_of_frame(frame: Any) -> tuple[list[Player], list[Any]]:
    """Players and games of a frame that has the columns of a table for `dma rate`."""
    columns: list[list[str]] = []
    players: dict[str, Player] = {}
    for place in range(frame.shape[1]):
        cells = frame.iloc[:, place]
        given = [None if absent else cell for cell, absent in zip(cells, cells.isna())]
        columns.append(["" if cell is None else _cell(cell) for cell in given])
        if str(frame.columns[place]).lower() in ("winner", "loser", "player"):
            for cell in given:
                players.update({} if cell is None else {str(player): player for player in _players_of(cell)})
    names, games = _dma.read_games(_dma.Table([str(name) for name in frame.columns], columns))
    return [players.get(name, name) for name in names], games


def _cell(value: Any) -> str:
    return " + ".join(map(str, _players_of(value)))


def _prior_of(player: Player, priors: Mapping[Player, Sequence[Any]], usual: tuple[float, float]) -> tuple[float, ...]:
    """Mean and standard deviation of a skill and, if given, that of the performances around it."""
    prior = priors.get(player, usual)
    if not isinstance(prior, (Sequence, np.ndarray)) or isinstance(prior, str) or len(prior) not in (2, 3):
        raise _dma.Error(f"priors: {prior!r} is given for {player!r}; a mean and a standard deviation are expected, and that of "
                         "performances if it is the player's own")  # fmt: skip
    return tuple(prior[:2]) if prior[-1] is None else tuple(prior)


def rate(
    games: Any, *, mean: float = 25, sd: float = 25 / 3, performance_sd: float = 25 / 6,
    drift_sd: float = 25 / 300, draw_probability: float = 0.1,
    priors: Mapping[Player, Sequence[Optional[float]]] = {}, by_sweeps: bool = False,
) -> Season:  # fmt: skip
    """Skills from games: ``("Ann", "Ben")`` is a game that Ann won, ``(["Ann", "Ben"], "Cy")`` one of teams.

    ``Game`` says more of one: draws, times, shares. A data frame has the columns that ``dma rate`` reads: winner and loser,
    or game, player and rank. All games are solved at once. A prior is the mean and the standard
    deviation of a player's skill, and as a third number, if given, that of the player's performances around it.
    """
    numbers: dict[Player, int] = {}
    if hasattr(games, "columns"):
        players, given = _games_of_frame(games)
        numbers = {player: number for number, player in enumerate(players)}
    else:
        given = [_game_of(i, one, lambda player: numbers.setdefault(player, len(numbers))) for i, one in enumerate(games)]
    known = [(*_prior_of(player, priors, (mean, sd)), performance_sd)[:3] for player in numbers]
    rated = _dma.rate_season(given, len(numbers), known, performance_sd, drift_sd, draw_probability, by_sweeps)
    return Season(list(numbers), rated.skills[:, 0], rated.skills[:, 1], rated.report, rated, numbers)


class Rating(_Skills):
    """Skills from games one after the other: what is known after a game is the prior of the next.

    ``play`` takes a game as ``rate`` does; in between, ``rating["Ann"]``, ``mean``, ``sd`` and ``chances`` say what is
    known so far. A player joins with the first game, by ``priors`` or with ``mean`` and ``sd``.
    """

    def __init__(
        self, *, mean: float = 25, sd: float = 25 / 3, performance_sd: float = 25 / 6, drift_sd: float = 25 / 300,
        draw_probability: float = 0.1, priors: Mapping[Player, Sequence[Optional[float]]] = {},
    ) -> None:  # fmt: skip
        self._rated: _dma.OnlineRating = _dma.OnlineRating(performance_sd, drift_sd, draw_probability)
        self._numbers: dict[Player, int] = {}
        self._prior = (mean, sd)
        self._priors, self._played = dict(priors), 0

    def play(self, game: Union[Game, Sequence[Any]]) -> _dma.Report:
        """Learns from one more game, unless it is refused."""
        new: dict[Player, int] = {}

        def number(player: Player) -> int:
            if player in self._numbers:
                return self._numbers[player]
            return new.setdefault(player, self._rated.join(*_prior_of(player, self._priors, self._prior)))

        report = self._rated.play(_game_of(self._played, game, number))
        self._numbers.update(new)
        self._played += 1
        return report

    @property
    def players(self) -> list[Player]:
        """In the order in which they joined."""
        return list(self._numbers)

    @property
    def mean(self) -> Floats:
        """Mean of the skill of each player."""
        return np.array(self._rated.skills[list(self._numbers.values()), 0])

    @property
    def sd(self) -> Floats:
        """Its standard deviation."""
        return np.array(self._rated.skills[list(self._numbers.values()), 1])

    def __repr__(self) -> str:
        return f"<dma.Rating: {len(self._numbers)} players, {self._played} games>"
