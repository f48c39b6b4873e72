"""Events that only a few places write, and events that only a few places lack.

A forest cannot find one line among a hundred noisy columns (0.10 of trials at 128 nodes); listing such lines can.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from assistant.patterns.levels import Level
from assistant.patterns.likeness import FAILURE_LIKE, PLAIN
from assistant.patterns.progress import MAD_TO_SD

FEW = 0.1
"""Share of the places up to which an event is on few of them; one place is always few."""
LACKING = 0.02
"""Share of the places up to which a common event is lacking on few of them."""
PEERS = 4
"""Places of a role below which nothing can be said to be common among them."""
STEADY = 0.05
"""Highest variance to mean of an event's counts at which each place writes it by plan, not by chance."""
LEAST_WEIGHT, MOST_WEIGHT = 0.02, 0.95
MOST_EACH = 8
"""Rare events of a place that are listed, the weightiest first."""
OWN_FAILURES = 0.6
"""Factor for failure-like events where many places have one of their own."""
LEAST_AMOUNT = 0.7
"""Spread of rare ordinary lines over the places that is always granted: the logarithm of one line."""
EXTREME_AMOUNT = 15.0
AMOUNT_TOP = 0.5
"""Rare ordinary lines weigh at most so much, from so many robust standard deviations on."""
LACKING_FAILURE, LACKING_PLAIN = 0.6, 0.35
"""What it weighs to lack a failure that all others report, and an ordinary line that all others write."""
MOST_LACKING = 500
"""Common events that are looked through, the most failure-like first."""
CHANCE = 0.01
"""A chance event is lacking only if so few places at most were expected to lack it."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rarities:
    """Both lists.

    few: place, template, count, iterations, stream, holders (places that write it), weight.
    lacking: place, template, holders, weight.
    """

    few: pl.DataFrame
    lacking: pl.DataFrame


def rarities(level: Level, likeness: Numbers) -> Rarities:
    """The lists of one level, within roles where those have several places."""
    table = _annotated(level, likeness)
    return Rarities(_few(level, table), _lacking(level, table))


def most_places(count: int, share: float) -> int:
    """How many of so many places are few."""
    return max(1, int(share * count))


def _annotated(level: Level, likeness: Numbers) -> pl.DataFrame:
    """The level's table with role, size of the role, holders of the template in all and within the role, likeness."""
    sizes = level.role_sizes
    roles = pl.DataFrame(
        {"place": range(len(level.places)), "role": level.roles, "peers": [sizes[role] for role in level.roles]},
        schema={"place": pl.Int32, "role": pl.String, "peers": pl.Int64},
    )
    joined = level.table.join(roles, on="place", maintain_order="left")
    return joined.with_columns(
        pl.len().over("template").alias("holders"),
        pl.len().over("template", "role").alias("role_holders"),
        pl.Series("likeness", likeness[joined["template"].to_numpy()], dtype=pl.Float64),
    )


def _few(level: Level, table: pl.DataFrame) -> pl.DataFrame:
    places = len(level.places)
    failing = pl.col("likeness") >= FAILURE_LIKE
    few = pl.col("holders") <= most_places(places, FEW)
    # What most places of a role write, or a role of one place, belongs to the role.
    by_role = (pl.col("peers") == 1) | ((pl.col("peers") > 1) & (pl.col("role_holders") * 2 > pl.col("peers")))
    wanted = table.filter(few & (failing | ~by_role) & (pl.col("likeness") > 0))
    rarity = 1 - pl.col("holders").cast(pl.Float64).log() / np.log(max(places, 2))
    return _weighed(wanted.drop("role").with_columns(rarity.clip(0, 1).alias("rarity")), places)


def _weighed(few: pl.DataFrame, places: int) -> pl.DataFrame:
    failing = pl.col("likeness") >= FAILURE_LIKE
    weighed = pl.concat([_failing(few.filter(failing), places), _ordinary(few.filter(~failing), places)])
    kept = weighed.filter(pl.col("weight") >= LEAST_WEIGHT)
    ordered = kept.sort(["place", "weight", "template"], descending=[False, True, False])
    return ordered.group_by("place", maintain_order=True).head(MOST_EACH)


def _failing(few: pl.DataFrame, places: int) -> pl.DataFrame:
    """Each failure-like event weighs by itself; less where many places have one of their own."""
    many = few["place"].n_unique() > max(most_places(places, FEW), places // 4)
    # A line that recurs in several iterations is no accident.
    recurring = 1 + 0.1 * pl.min_horizontal(pl.col("iterations"), 5).cast(pl.Float64) / 5
    weight = pl.col("rarity") * pl.col("likeness") * recurring * (OWN_FAILURES if many else 1.0)
    return few.with_columns(weight.clip(0, MOST_WEIGHT).alias("weight"))


def _ordinary(few: pl.DataFrame, places: int) -> pl.DataFrame:
    """Ordinary events weigh by how much more of them a place has than its peers: every place has some of its own."""
    amount = pl.col("rarity") * pl.col("count").cast(pl.Float64).log1p() * pl.col("likeness") / PLAIN
    told = few.with_columns(amount.alias("amount"))
    sums = told.group_by("place").agg(pl.col("amount").sum(), pl.col("amount").max().alias("most")).sort("place")
    of_all = np.zeros(places)
    of_all[sums["place"].to_numpy()] = sums["amount"].to_numpy()
    middle = float(np.median(of_all))
    spread = max(MAD_TO_SD * float(np.median(np.abs(of_all - middle))), LEAST_AMOUNT)
    height = ((of_all - middle) / spread).clip(0, EXTREME_AMOUNT) / EXTREME_AMOUNT
    weights = pl.Series("whole", AMOUNT_TOP * np.sqrt(height))
    joined = told.join(sums.select("place", "most"), on="place", maintain_order="left")
    whole = weights.gather(joined["place"])
    return joined.with_columns((whole * joined["amount"] / joined["most"]).alias("weight")).drop("amount", "most")


def _lacking(level: Level, table: pl.DataFrame) -> pl.DataFrame:
    schema = {"place": pl.Int32, "template": pl.Int32, "holders": pl.Int64, "weight": pl.Float64}
    if len(level.places) < PEERS:
        return pl.DataFrame(schema=schema)
    rows: list[tuple[int, int, int, float]] = []
    for template, holders, likeness, present in _common(level, table).iter_rows():
        absent = set(range(len(level.places))) - set(present)
        rows += [(place, template, holders, weight) for place, weight in _weights(absent, likeness, level)]
    found = pl.DataFrame(rows, schema=schema, orient="row").sort("place", "template")
    # Where many places lack something, lacking is no sign.
    few = found["place"].n_unique() <= most_places(len(level.places), FEW)
    return found if few else found.filter(pl.col("weight") >= LACKING_FAILURE)


def _common(level: Level, table: pl.DataFrame) -> pl.DataFrame:
    """template, holders, likeness, place (list): events so common that the few places without them stand out."""
    places = len(level.places)
    common = table.group_by("template").agg(
        pl.len().alias("holders"),
        pl.col("count").mean().alias("mean"),
        pl.col("count").var().fill_null(0).alias("variance"),
        pl.col("likeness").first(),
        pl.col("place"),
    )
    lacked = (pl.col("holders") < places) & (pl.col("holders") >= places - most_places(places, LACKING))
    scatter = pl.max_horizontal(pl.lit(1.0), pl.col("variance") / pl.col("mean"))
    expected = places * (-pl.col("mean") / scatter).exp()
    steady = pl.col("variance") <= STEADY * pl.col("mean")
    kept = common.filter(lacked & (steady | (expected < CHANCE)) & (pl.col("likeness") > 0))
    ordered = kept.sort(["likeness", "holders", "template"], descending=[True, True, False])
    return ordered.head(MOST_LACKING).select("template", "holders", "likeness", "place")


def _weights(absent: set[int], likeness: float, level: Level) -> list[tuple[int, float]]:
    """The places without an event, and what that weighs.

    A place with a role of its own lacks by nature what all others write, unless what they write is a failure.
    """
    if likeness >= FAILURE_LIKE:
        return [(place, LACKING_FAILURE) for place in sorted(absent)]
    sizes = level.role_sizes
    return [(place, LACKING_PLAIN) for place in sorted(absent) if sizes[level.roles[place]] >= PEERS]
