"""Estimators for two classes and real-valued labels, and robustness as features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...data.arrays import Array, Floats
from ...engines import Where
from ...formula import Formula, parse
from ...formula import channels as channels_of
from ...semantics import robustness
from ..base import Watch
from ..enumerative.certificate import Certificate
from ..enumerative.enumeration import Rivals
from ..enumerative.enumerative import Enumerative, ExactFit
from ..fernn.fernn import Fernn
from ..lattice.lattice import Lattice, LatticeFit
from ..maxsat import MaxSat, MaxSatFit
from ..signals import SignalChoice
from ..tree import Tree
from .estimator_base import BinaryFormulaClassifier, FormulaEstimator, set_params_from
from .inputs import Traces, case_weights, channel_names, heads, split_names, traces, validate_traces, width


class FernnEstimator(FormulaEstimator):
    """An estimator that learns by FERNN."""

    _kind: ClassVar[type[Fernn]] = Fernn

    def __init__(
        self,
        max_length: int = Fernn.max_length,
        intervals: bool = Fernn.intervals,
        atoms: Literal["axis", "linear"] = Fernn.atoms,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Fernn.time_limit,
        *,
        template: Formula | str | None = Fernn.template,
        signals: SignalChoice | Sequence[str] = Fernn.signals,
        pieces: int = Fernn.pieces,
        max_complexity: int | None = Fernn.max_complexity,
        direction: Literal["future", "past"] = Fernn.direction,
        since: bool = Fernn.since,
        restarts: int = Fernn.restarts,
        rounds: int = Fernn.rounds,
        patience: int | None = Fernn.patience,
        thresholds: Literal["auto", "steady", "exact"] = Fernn.thresholds,
        guesses: Sequence[Formula | str] | None = None,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        set_params_from(self, locals())


class FernnClassifier(BinaryFormulaClassifier, FernnEstimator):
    """Learns a formula that holds of the traces of the last class, and of no others.

    X is `[case, channel, time]`, `[case, time]` for one channel, or a list of `(channel, time)` arrays of
    unequal length. y has two classes; the one that sorts last is the positive one.

    Parameters
    ----------
    max_length, intervals, atoms, time_limit, template, signals, pieces, direction, since, restarts, rounds, \
    patience, thresholds, max_complexity, miss_cost, false_alarm_cost
        As in `Fernn`. A template may be text.
    random_state
        A whole number is the seed: the same seed gives the same result. None draws a new one at each fit.
    class_weight
        "balanced", or a weight for each label; labels that are not mentioned weigh 1.
    guesses
        Formulas, or their texts, to start from.
    model_selection
        Which entry of the front is `formula_`: "one_se" (the shortest whose validation error is within one
        standard error of the best; with signals="auto", the one that the learner picks), "accurate" (the lowest
        validation error) or "simplest" (the shortest).
    warm_start
        Whether another `fit` goes on from where the last one ended.
    callbacks
        Functions told of `Progress`; one that raises KeyboardInterrupt ends the fit with the best so far.
    channels
        The names used in formulas: `x` for one channel, `x0`, `x1`, ... for more, unless given here.
    engine
        Where restarts are settled: "local", "processes", "ray", "dask", an address or an executor; see `fernn.engines`.
    verbose
        1 prints a line when the picked formula changes, 2 whenever there is progress.

    Attributes
    ----------
    formula_ : Formula
        The picked formula.
    front_ : Front
        The best formula of each length; `front_.pick` is the number of the picked one.
    fit_ : Fit
        How it came about: seconds, how it ended, and the state from which a warm start goes on.
    classes_ : array
        The two labels, sorted.
    channels_ : tuple of str
        The names of the channels.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        The number of samples where X was `[case, time]`, else the number of channels.
    """

    def __init__(
        self,
        max_length: int = Fernn.max_length,
        intervals: bool = Fernn.intervals,
        atoms: Literal["axis", "linear"] = Fernn.atoms,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Fernn.time_limit,
        *,
        template: Formula | str | None = Fernn.template,
        signals: SignalChoice | Sequence[str] = Fernn.signals,
        pieces: int = Fernn.pieces,
        max_complexity: int | None = Fernn.max_complexity,
        direction: Literal["future", "past"] = Fernn.direction,
        since: bool = Fernn.since,
        restarts: int = Fernn.restarts,
        rounds: int = Fernn.rounds,
        patience: int | None = Fernn.patience,
        thresholds: Literal["auto", "steady", "exact"] = Fernn.thresholds,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = Fernn.class_weight,
        miss_cost: float = Fernn.miss_cost,
        false_alarm_cost: float = Fernn.false_alarm_cost,
        guesses: Sequence[Formula | str] | None = None,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        set_params_from(self, locals())


class FernnRegressor(RegressorMixin, FernnEstimator):  # type: ignore[misc]
    """Learns a formula whose robustness is the label.

    X as in `FernnClassifier`; y is one real number a case. Parameters and attributes are those of
    `FernnClassifier` where they make sense without classes. `predict` is the robustness itself, in the units of
    the channels; an empty window makes it infinite.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from traces and their numbers; a case of weight 2 counts as two cases."""
        values, y = self._validate_input(X, y, numeric=True)
        labels = np.asarray(y, dtype=np.float64) + 0.0
        return self._search(values, labels, case_weights(sample_weight, len(labels)))

    def predict(self, X: Any, index: int | None = None) -> Floats:
        """The robustness of each case, of the picked formula or that of entry `index` of the front."""
        rule, values = self._rule(index), validate_traces(X, self)
        return robustness(rule, values, self.channels_)  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A formula is no linear model of its samples, which is what this mark asks about.
        tags.regressor_tags.poor_score = True
        return tags


class EnumerativeClassifier(BinaryFormulaClassifier):
    """Finds the formula that errs least of all formulas of a space, and says so in a certificate.

    X and y as in `FernnClassifier`.

    Parameters
    ----------
    max_length, intervals, pieces, next, time_limit, template, signals, direction, since, negation, atoms, thresholds, \
    grid, miss_cost, false_alarm_cost, max_misses, max_false_alarms, tolerance, most_rivals, exhaust, folds, memory, \
    device, preset, target
        As in `Enumerative`. A template may be text.
    random_state
        Deals the traces to the folds.
    class_weight, model_selection, warm_start, callbacks, channels, engine, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    formula_, front_, classes_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    fit_ : ExactFit
        How it came about.
    certificate_ : Certificate
        What was proved; `certificate_.holds` says whether the search was complete, `statement` in words.
    rivals_ : Rivals
        Every other way to judge the training traces that errs as little, within `tolerance`, each with its formulas;
        None where the search was cut off.
    """

    _kind: ClassVar[type[Enumerative]] = Enumerative
    fit_: ExactFit
    certificate_: Certificate | None
    rivals_: Rivals | None

    def __init__(
        self,
        max_length: int = Enumerative.max_length,
        intervals: bool = Enumerative.intervals,
        atoms: Literal["axis", "differences"] = Enumerative.atoms,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Enumerative.time_limit,
        *,
        template: Formula | str | None = Enumerative.template,
        signals: SignalChoice | Sequence[str] = Enumerative.signals,
        direction: Literal["future", "past"] = Enumerative.direction,
        since: bool = Enumerative.since,
        negation: bool = Enumerative.negation,
        pieces: int = Enumerative.pieces,
        next: bool | None = Enumerative.next,
        thresholds: Literal["auto", "exact", "grid"] = Enumerative.thresholds,
        grid: int = Enumerative.grid,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = Enumerative.class_weight,
        miss_cost: float = Enumerative.miss_cost,
        false_alarm_cost: float = Enumerative.false_alarm_cost,
        max_misses: float | None = Enumerative.max_misses,
        max_false_alarms: float | None = Enumerative.max_false_alarms,
        tolerance: float = Enumerative.tolerance,
        most_rivals: int = Enumerative.most_rivals,
        exhaust: bool = Enumerative.exhaust,
        folds: int = Enumerative.folds,
        memory: str = Enumerative.memory,
        device: Literal["cpu", "cuda"] = Enumerative.device,
        preset: Literal["published"] | None = Enumerative.preset,
        target: float = Enumerative.target,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        set_params_from(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled traces; a case of weight 2 counts as two cases."""
        super().fit(X, y, sample_weight)
        self.certificate_, self.rivals_ = self.fit_.certificate, self.fit_.rivals
        return self


class LatticeClassifier(BinaryFormulaClassifier):
    """Searches reactive formulas, `F[a,b] (cause -> effect)`, along their order.

    X and y as in `FernnClassifier`.

    Parameters
    ----------
    max_parts, max_length, intervals, delayed, ends, width, preset, target, steps, miss_cost, false_alarm_cost, \
    folds, time_limit
        As in `Lattice`.
    random_state
        Deals the traces to the folds; of the preset also the seed of the annealing.
    class_weight, model_selection, warm_start, callbacks, channels, engine, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    formula_, front_, classes_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    fit_ : LatticeFit
        How it came about; `fit_.graph` has the structures that were kept, with their parameters.
    """

    _kind: ClassVar[type[Lattice]] = Lattice
    fit_: LatticeFit

    def __init__(
        self,
        max_parts: int = Lattice.max_parts,
        intervals: bool = Lattice.intervals,
        delayed: bool = Lattice.delayed,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Lattice.time_limit,
        *,
        max_length: int | None = Lattice.max_length,
        signals: SignalChoice | Sequence[str] = Lattice.signals,
        ends: int = Lattice.ends,
        width: int = Lattice.width,
        preset: Literal["published"] | None = Lattice.preset,
        target: float = Lattice.target,
        steps: int = Lattice.steps,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = Lattice.class_weight,
        miss_cost: float = Lattice.miss_cost,
        false_alarm_cost: float = Lattice.false_alarm_cost,
        folds: int = Lattice.folds,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        set_params_from(self, locals())


class MaxSatClassifier(BinaryFormulaClassifier):
    """Finds the smallest formula of LTL on finite traces that is right about all traces, or about all but a share.

    X and y as in `FernnClassifier`; every value of X is 0 or 1. Fitting needs z3.

    Parameters
    ----------
    max_length, max_error, time_limit, direction, since, next, front, miss_cost, \
    false_alarm_cost, folds
        As in `MaxSat`.
    random_state
        Seeds the solver.
    class_weight, model_selection, warm_start, callbacks, channels, engine, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    formula_, front_, classes_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    fit_ : MaxSatFit
        How it came about; `fit_.proved` is the length up to which all formulas were looked through.
    """

    _kind: ClassVar[type[MaxSat]] = MaxSat
    fit_: MaxSatFit

    def __init__(
        self,
        max_length: int = MaxSat.max_length,
        max_error: float = MaxSat.max_error,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = MaxSat.time_limit,
        *,
        direction: Literal["future", "past"] = MaxSat.direction,
        since: bool = MaxSat.since,
        next: bool = MaxSat.next,
        front: bool = MaxSat.front,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = MaxSat.class_weight,
        miss_cost: float = MaxSat.miss_cost,
        false_alarm_cost: float = MaxSat.false_alarm_cost,
        folds: int = MaxSat.folds,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        set_params_from(self, locals())


class TreeClassifier(BinaryFormulaClassifier):
    """Grows a decision tree whose nodes are small formulas, each the best of its space, and reads it as one formula.

    X and y as in `FernnClassifier`.

    Parameters
    ----------
    depth, node_length, purity, min_leaf, pruning, max_length, trees, direction, since, intervals, pieces, atoms, \
    signals, thresholds, grid, miss_cost, false_alarm_cost, folds, memory, time_limit
        As in `Tree`.
    random_state
        Deals the traces to the folds.
    class_weight, model_selection, warm_start, callbacks, channels, engine, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    formula_, front_, fit_, classes_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    """

    _kind: ClassVar[type[Tree]] = Tree

    def __init__(
        self,
        depth: int = Tree.depth,
        node_length: int = Tree.node_length,
        purity: Literal["gini", "entropy", "error"] = Tree.purity,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Tree.time_limit,
        *,
        min_leaf: float = Tree.min_leaf,
        pruning: bool = Tree.pruning,
        max_length: int | None = Tree.max_length,
        trees: int = Tree.trees,
        direction: Literal["future", "past"] = Tree.direction,
        since: bool = Tree.since,
        intervals: bool = Tree.intervals,
        pieces: int = Tree.pieces,
        atoms: Literal["axis", "differences"] = Tree.atoms,
        signals: SignalChoice | Sequence[str] = Tree.signals,
        thresholds: Literal["auto", "exact", "grid"] = Tree.thresholds,
        grid: int = Tree.grid,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = Tree.class_weight,
        miss_cost: float = Tree.miss_cost,
        false_alarm_cost: float = Tree.false_alarm_cost,
        folds: int = Tree.folds,
        memory: str = Tree.memory,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        set_params_from(self, locals())


FLOATS = [np.float64, np.float32]


class RobustnessTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The robustness of each trace under each formula, `[case, formula]`, judged in the type of the data.

    X as in `FernnClassifier`. `formulas` are formulas or their texts. `channels` names the channels of X; left out,
    they are `x0`, `x1`, ..., and a single one has the name that the formulas read.

    Attributes: `formulas_`, `channels_`, `n_features_in_`.
    """

    def __init__(self, formulas: Sequence[Formula | str], channels: Sequence[str] | None = None) -> None:
        self.formulas = formulas
        self.channels = channels

    def fit(self, X: Any, y: Any = None) -> Self:
        """Read the formulas and see that they fit the traces."""
        if isinstance(self.formulas, (str, Formula)):
            raise ValueError(f"formulas is a list of formulas, found the single one {self.formulas}.")
        X, names = split_names(X, self.channels)
        values, flat = traces(X, self, FLOATS)
        validate_data(self, X if flat else heads(values), reset=True, skip_check_array=True)
        self._flat = flat
        self.formulas_ = tuple(parse(each) if isinstance(each, str) else each for each in self.formulas)
        read = {name for formula in self.formulas_ for name in channels_of(formula)}
        one = names is None and self.channels is None and width(values) == 1 and len(read) == 1
        self.channels_ = tuple(read) if one else channel_names(names or self.channels, width(values))
        self._columns(values[:1])
        return self

    def transform(self, X: Any) -> Array:
        """`[case, formula]`"""
        check_is_fitted(self, "formulas_")
        return self._columns(validate_traces(X, self, FLOATS))

    def _columns(self, values: Traces) -> Array:
        columns = [robustness(formula, values, self.channels_) for formula in self.formulas_]
        return np.stack(columns, axis=1) if columns else np.empty((len(values), 0))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The texts of the formulas; `input_features` is not used."""
        check_is_fitted(self, "formulas_")
        return np.array([str(formula) for formula in self.formulas_], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
