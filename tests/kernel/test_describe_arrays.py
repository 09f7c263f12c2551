"""Arrays, estimators and figures."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import xarray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from stand_ins import Axes, Figure, Run, Tensor, library_class

from mewcode_magic.kernel.describe import describe


def test_array_is_told_by_shape_type_and_statistics() -> None:
    assert describe(np.arange(12.0).reshape(3, 4), name="a").splitlines() == [
        "a: numpy.ndarray (3, 4) float64",
        "shape: (3, 4); dtype: float64; 96 bytes",
        "first values: 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, …",
        "min 0.0, max 11.0, mean 5.5",
    ]


@pytest.mark.parametrize(
    ("array", "last"),
    [
        (np.array([1.0, np.nan, np.inf]), "min 1.0, max inf, mean inf, 1 NaN"),
        (np.array([np.nan, np.nan]), "2 NaNs"),
        (np.array([np.inf, -np.inf]), "min -inf, max inf, mean nan"),
        (np.array([True, False, True]), "true: 2 of 3"),
        (np.array([1 + 2j]), "mean 1+2j"),
        (np.array(["2024-01-01", "NaT"], "M8[D]"), "min 2024-01-01, max 2024-01-01, 1 NaT"),
        (np.array(5), "min 5, max 5, mean 5"),
        (np.array([6e4] * 3, "f2"), "min 60000.0, max 60000.0, mean 60000"),
        (np.array(["a\n", "b"]), "first values: 'a\\n', 'b'"),
        (np.array([[1], {"a": 2}], dtype=object), "first values: [1], {'a': 2}"),
        (np.array([(1, 2.5)], [("n", "i4"), ("x", "f8")]), "first values: (1, 2.5)"),
        (np.ma.array([1, 99, 3], mask=[0, 1, 0]), "min 1, max 3, mean 2"),
        (np.zeros((0, 3)), "shape: (0, 3); dtype: float64; 0 bytes"),
    ],
)
def test_statistics_fit_the_values(array: Any, last: str) -> None:
    assert describe(array).splitlines()[-1] == last


def test_large_array_is_looked_at_in_a_sample_from_everywhere() -> None:
    array = np.arange(3_000_000.0).reshape(3, 1_000, 1_000)
    *_, line = describe(array).splitlines()
    assert "in a sample of" in line
    minimum, maximum, mean = (float(part.split()[1]) for part in line.split(" (")[0].split(", "))
    assert minimum < 300_000
    assert maximum > 2_700_000
    assert 1_400_000 < mean < 1_600_000


@pytest.mark.parametrize(
    "shape", [(2_000_000,), (1, 2_000_000), (2_000_000, 1), (2, 1, 1_000, 1_000), (1_500, 1_500)]
)
def test_sample_is_small_whatever_the_shape(shape: tuple[int, ...]) -> None:
    *_, line = describe(np.zeros(shape, "u1")).splitlines()
    sampled = int(line.split("in a sample of ")[1].split()[0].replace(",", ""))
    assert 2_000 < sampled <= 20_000


def test_file_behind_an_array_is_not_read(tmp_path: Path) -> None:
    array = np.memmap(tmp_path / "data", dtype="f8", mode="w+", shape=(10,))
    assert describe(array).splitlines()[-1] == "memory-mapped: its values were not read"


def test_methods_of_a_subclass_of_an_array_are_not_run() -> None:
    class Guarded(np.ndarray):
        def _run(self, *_arguments: Any) -> Any:
            raise Run

        __getitem__ = __len__ = __iter__ = min = _run
        shape = dtype = property(_run)  # type: ignore[assignment]

    guarded = np.full(3, 7, "u1").view(Guarded)
    Guarded.__array_finalize__ = Guarded._run
    lines = describe(guarded).splitlines()
    assert lines[0].endswith("Guarded (3,) uint8")
    assert lines[-1] == "min 7, max 7, mean 7"


def test_tensor_is_told_like_the_array_that_it_is() -> None:
    tensor = Tensor(np.arange(4.0, dtype="f4"), requires_grad=True)
    assert describe(tensor, name="t").splitlines() == [
        "t: torch.Tensor (4,) torch.float32",
        "shape: (4,); dtype: torch.float32; device: cpu",
        "requires a gradient",
        "first values: 0.0, 1.0, 2.0, 3.0",
        "min 0.0, max 3.0, mean 1.5",
    ]


def test_tensor_on_another_device_is_not_waited_for() -> None:
    text = describe(Tensor(np.zeros(3), device="cuda:0"))
    assert text.splitlines()[-1] == "shape: (3,); dtype: torch.float64; device: cuda:0"


def test_array_that_is_elsewhere_is_told_by_its_shape() -> None:
    def load(*_arguments: Any) -> Any:
        raise Run

    cls = library_class(
        "zarr.core.array",
        "Array",
        shape=(5, 2),
        dtype="float32",
        __getitem__=load,
        __repr__=load,
        __len__=load,
    )
    assert describe(cls()).splitlines()[-1] == "shape: (5, 2); dtype: float32"
    assert "shape: (2, 3); dtype: float64" in describe(scipy.sparse.csr_array((2, 3)))


def test_labelled_arrays_are_told_by_dimensions() -> None:
    array = xarray.DataArray(
        [[1.0, 2.0]], dims=("x", "y"), coords={"y": [10, 20]}, attrs={"unit": "m"}, name="heat"
    )
    assert describe(array).splitlines() == [
        "xarray.DataArray x 1, y 2",
        "dimensions: x 1, y 2; dtype: float64",
        "coordinates: y",
        "attributes: unit",
        "first values: 1.0, 2.0",
        "min 1.0, max 2.0, mean 1.5",
    ]
    assert describe(array.to_dataset()).splitlines() == [
        "xarray.Dataset y 2, x 1",
        "dimensions: y 2, x 1",
        "variables:",
        "  heat (x, y): float64",
        "coordinates:",
        "  y (y): int64",
    ]


def test_labelled_array_over_a_lazy_one_is_not_computed() -> None:
    import dask.array

    def fail() -> Any:
        raise Run

    lazy = dask.array.from_delayed(dask.delayed(fail)(), (3,), dtype="f8")
    text = describe(xarray.DataArray(lazy, dims=("x",)))
    assert text.splitlines()[-1] == "values not loaded: dask.array.core.Array"


def test_estimator_is_told_by_parameters_and_what_it_learned() -> None:
    estimator = LogisticRegression(C=0.5)
    assert "not fitted\nparameters:\n" in describe(estimator)
    assert "  C=0.5\n" in describe(estimator)
    estimator.fit([[0.0], [1.0]], [0, 1])
    lines = describe(estimator).splitlines()
    assert lines[1] == "fitted"
    assert "  coef_: numpy.ndarray (1, 1) float64" in lines


def test_pipeline_is_fitted_as_its_last_step_is() -> None:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    pipeline.steps[0][1].fit([[1.0]])
    assert "not fitted" in describe(pipeline)
    assert "('standardscaler', sklearn.preprocessing.StandardScaler(…))" in describe(pipeline)
    pipeline.fit([[0.0], [1.0]], [0, 1])
    assert describe(pipeline).splitlines()[1] == "fitted"


def test_properties_of_an_estimator_are_not_run() -> None:
    class Costly(BaseEstimator):
        def __init__(self, depth: int = 3) -> None:
            self.depth = depth

        @property
        def scores_(self) -> Any:
            raise Run

        def get_params(self, deep: bool = True) -> Any:  # noqa: FBT001, FBT002 - as scikit-learn has it
            raise Run

    assert describe(Costly()).splitlines()[1:] == ["not fitted", "parameters:", "  depth=3"]


def test_figure_is_told_by_its_axes() -> None:
    assert describe(Figure(Axes("Sales", lines=2), Axes()), name="fig").splitlines() == [
        "fig: matplotlib.figure.Figure",
        "6.4 x 4.8 inches; axes: 2",
        "axes 1:",
        "  title: 'Sales'",
        "  drawn: 2 lines, 2 patches",
        "axes 2:",
        "  drawn: 2 patches",
    ]
