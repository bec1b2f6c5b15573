//! The native half of the Python package `bosket`: frames in, results out. It sits on `bosket-app` and has no rule of its
//! own; what people see of it is the typed Python layer in `python/bosket`.
#![allow(unreachable_pub, reason = "nobody but Python looks in")]

mod arrays;
mod calls;
mod cells;
mod errors;
mod frames;
mod given;
mod leaves;
mod overlooked;
mod published;
mod sides;
mod spark;
mod watch;

use pyo3::prelude::*;

/// The native half of `bosket`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    watch::keep_places_of_panics();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(calls::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(calls::check, module)?)?;
    module.add_function(wrap_pyfunction!(calls::anonymize, module)?)?;
    module.add_function(wrap_pyfunction!(calls::verify, module)?)?;
    module.add_function(wrap_pyfunction!(calls::attack, module)?)?;
    module.add_function(wrap_pyfunction!(calls::export, module)?)?;
    module.add_function(wrap_pyfunction!(calls::measure, module)?)?;
    module.add_function(wrap_pyfunction!(calls::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(calls::report, module)?)?;
    module.add_function(wrap_pyfunction!(published::tables, module)?)?;
    module.add_function(wrap_pyfunction!(published::write, module)?)?;
    module.add_function(wrap_pyfunction!(published::convert, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_policy, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_parts, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_judge_part, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_judge_rows, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_merge_judged, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_verdict, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_drawn, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_recount_part, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_recount_rows, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_write_part, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_count, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_merge, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_plan, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_merge_kernels, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_search, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_recode, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_sheet, module)?)?;
    module.add_function(wrap_pyfunction!(overlooked::spark_overlook, module)?)?;
    module.add_function(wrap_pyfunction!(overlooked::spark_merge_overlooked, module)?)?;
    module.add_function(wrap_pyfunction!(overlooked::spark_overlooked, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_plan, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_sample, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_sample_left, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_records, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_again, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_parted, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_together, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_split, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_joined, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_assign, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_make, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_make_left, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_tally, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_shape, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_texts, module)?)?;
    module.add_function(wrap_pyfunction!(cells::cells_sheet, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_plan, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_agreed, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_people, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_reach, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_make, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_folders, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_write, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_parts, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_judge, module)?)?;
    module.add_function(wrap_pyfunction!(sides::sides_verdict, module)?)?;
    module.add_function(wrap_pyfunction!(watch::break_down, module)?)
}
