//! Failures as exceptions, by whose fault they are. The classes themselves are Python's: `bosket/_errors.py`.

use bosket_model::diag::render;
use bosket_model::{Diagnostic, Failure, Fault, Severity};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception of a failure.
pub(crate) fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let class = match failure.fault {
        Fault::Usage | Fault::Policy => "PolicyError",
        Fault::Data => "DataError",
        Fault::Environment => "EnvironmentFault",
        Fault::Unreachable => "Unreachable",
        Fault::Defect => "Defect",
        Fault::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    exception(py, class, &failure.diagnostics).unwrap_or_else(|error| error)
}

fn exception(py: Python<'_>, class: &str, diagnostics: &[Diagnostic]) -> PyResult<PyErr> {
    let all = diagnostics.iter().map(|d| diagnostic(py, d)).collect::<PyResult<Vec<_>>>()?;
    let class = py.import("bosket._errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call1((all,))?))
}

fn diagnostic<'py>(py: Python<'py>, found: &Diagnostic) -> PyResult<Bound<'py, PyAny>> {
    let all = PyDict::new(py);
    let place = &found.place;
    all.set_item("severity", if found.severity == Severity::Error { "error" } else { "warning" })?;
    all.set_item("message", &found.message)?;
    all.set_item("source", &place.source)?;
    all.set_item("path", &place.path)?;
    all.set_item("line", place.line)?;
    all.set_item("column", place.column)?;
    all.set_item("record", place.record)?;
    all.set_item("help", &found.help)?;
    all.set_item("text", render(found, false))?;
    py.import("bosket._errors")?.getattr("Diagnostic")?.call((), Some(&all))
}

/// Warnings as Python's own.
pub(crate) fn warn(py: Python<'_>, warnings: &[Diagnostic]) -> PyResult<()> {
    let told = py.import("bosket._errors")?.getattr("_warn")?;
    for warning in warnings {
        told.call1((diagnostic(py, warning)?,))?;
    }
    Ok(())
}
