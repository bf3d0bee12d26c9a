"""pandas: which functions and methods are tried, and which look at labels or values."""

from __future__ import annotations

from .places import FIRST, NONE, TWO, listed, words

_KNOWN = (
    "Index RangeIndex MultiIndex MultiIndex.from_arrays MultiIndex.from_tuples"
    " MultiIndex.from_product DatetimeIndex TimedeltaIndex PeriodIndex CategoricalIndex IntervalIndex"
    " IntervalIndex.from_breaks IntervalIndex.from_arrays IntervalIndex.from_tuples Timestamp Timedelta Period"
    " Interval Categorical CategoricalDtype DateOffset Grouper NamedAgg date_range bdate_range period_range"
    " timedelta_range interval_range array"
)
_ALONE = (
    "abs add_prefix add_suffix agg aggregate all any asfreq at_time between_time bfill clip convert_dtypes copy count"
    " cummax cummin cumprod cumsum describe diff drop drop_duplicates droplevel dropna duplicated ewm expanding"
    " explode ffill fillna filter get groupby head idxmax idxmin infer_objects isin isna isnull items keys kurt"
    " kurtosis mask max mean median memory_usage min mode nlargest notna notnull nsmallest nunique pct_change pop prod"
    " product quantile rank reindex reindex_like rename rename_axis reorder_levels replace resample reset_index"
    " rolling round sample sem set_axis shift skew sort_index sort_values squeeze std sum swaplevel tail take to_dict"
    " to_numpy to_period to_timestamp transform transpose truncate tz_convert tz_localize unstack value_counts var"
    " where xs"
)
# The other operand may be a stand-in, as its labels and dtypes decide.
_WITH_ONE = (
    "add align combine_first compare corr cov div divide dot eq equals floordiv ge gt le lt mod mul multiply ne pow"
    " radd rdiv rfloordiv rmod rmul rpow rsub rtruediv sub subtract truediv"
)
_ONLY_TABLE = "assign insert isetitem iterrows itertuples melt pivot_table select_dtypes set_index stack"
_ONLY_COLUMN = (
    "argmax argmin argsort autocorr between case_when divmod factorize item map rdivmod repeat searchsorted to_frame"
    " to_list tolist unique"
)
_OF_BOTH = ((NONE, _ALONE), (FIRST, _WITH_ONE))
_TIMESTAMP = (
    "ceil date day_name floor isocalendar isoformat isoweekday month_name normalize replace round strftime timestamp"
    " to_datetime64 to_julian_date to_period to_pydatetime toordinal tz_convert tz_localize weekday"
)
CALLS = listed(
    (NONE, _KNOWN),
    (
        FIRST,
        "Series DataFrame to_numeric factorize unique isna isnull notna notnull get_dummies melt pivot_table cut"
        " qcut concat to_datetime to_timedelta",
    ),
    (TWO, "merge crosstab"),
)
METHODS = {
    "pandas.DataFrame": listed(
        *_OF_BOTH, (NONE, _ONLY_TABLE), (FIRST, "join merge")
    ),
    "pandas.Series": listed(*_OF_BOTH, (NONE, _ONLY_COLUMN)),
    "pandas.Timestamp": listed((NONE, _TIMESTAMP)),
}
INDEXERS = {
    "pandas._LocIndexer": "loc",
    "pandas._iLocIndexer": "iloc",
    "pandas._AtIndexer": "at",
    "pandas._iAtIndexer": "iat",
}
"""What selects cells by labels or places, and the attribute that holds it."""
GROUPED = words(
    "DataFrameGroupBy SeriesGroupBy Rolling Expanding Window ExponentialMovingWindow RollingGroupby ExpandingGroupby"
    " ExponentialMovingWindowGroupby RollingGroupBy ExpandingGroupBy ExponentialMovingWindowGroupBy"
    " DatetimeIndexResampler TimedeltaIndexResampler PeriodIndexResampler"
)
"""Classes whose objects look among the labels of the table or column that they were made of."""
OF_GROUPED = words(
    "all any asfreq backfill bfill corr count cov cumcount cummax cummin cumprod cumsum describe diff ewm expanding"
    " ffill first head idxmax idxmin interpolate kurt last max mean median min ngroup nlargest nsmallest nth nunique"
    " ohlc pct_change prod quantile rank resample rolling sem shift size skew std sum tail value_counts var"
)
"""Their methods."""
AGGREGATING = words(
    "mean median std var sem sum min max first last prod count nunique"
)
"""Those of which the columns and dtypes of the result follow from the schema."""
# Of these results the columns, the dtypes or the number of rows depend on values.
_OF_VALUES = words(
    "case_when convert_dtypes factorize get_dummies idxmax idxmin infer_objects map mask mode pivot_table replace stack"
    " to_dict transform unstack value_counts where xs crosstab cut qcut to_datetime to_timedelta to_numeric"
    " item unique combine_first agg aggregate explode"
)
BY_VALUES = dict.fromkeys(
    ("pandas", "pandas.DataFrame", "pandas.Series"), _OF_VALUES
)
OF_ANY_TYPE = words("item map")
"""Those of which not even the type of the result is certain."""
PARSING = words("to_numeric to_datetime to_timedelta")
# Options, flags and registered accessors change what methods accept; janitor adds methods.
UNLESS_MENTIONED = (
    "set_option",
    "options.",
    "option_context",
    "register_",
    "set_flags",
    "zoneinfo",
    "janitor",
    "flavor",
)
IS_MADE_AGAIN = True
