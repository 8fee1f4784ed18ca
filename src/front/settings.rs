//! What the environment says: variables, since the command line belongs to the assembler.

use crate::measure::KEEP;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const DISABLE: &str = "PTXOPT_DISABLE";
const LOG: &str = "PTXOPT_LOG";
const REMARKS: &str = "PTXOPT_REMARKS";
const SECONDS: &str = "PTXOPT_SECONDS";
/// Also read by the child, which limits itself.
pub(super) const MEMORY: &str = "PTXOPT_MEMORY";

/// How long a module may be optimised, if nothing is said.
const USUAL_SECONDS: u64 = 60;
/// How much memory that may take, in MiB, if nothing is said.
const USUAL_MEMORY: u64 = 8192;

/// The settings.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Why nothing is optimised, if that is so.
    pub(super) disabled: Option<String>,
    /// What changed is kept without being measured.
    pub(super) keep_always: bool,
    /// Where a line about each run is appended.
    pub(super) log: Option<PathBuf>,
    /// The directory for remarks.
    pub(super) remarks: Option<PathBuf>,
    /// How long a module may be optimised.
    pub(super) time: Duration,
}

impl Settings {
    /// Those of a front that, for this reason, does nothing but tell of it.
    pub(super) fn disabled(variable: &dyn Fn(&str) -> Option<OsString>, why: String) -> Self {
        let (disabled, log) = (Some(why), log(variable));
        Self { disabled, keep_always: false, log, remarks: None, time: Duration::ZERO }
    }

    /// From the environment; values that mean nothing are errors.
    pub(super) fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let keep_always = match given(KEEP) {
            None => false,
            Some(value) if value == "better" => false,
            Some(value) if value == "always" => true,
            Some(value) => {
                return Err(format!("`{KEEP}={}` is neither `better` nor `always`", value.display()));
            }
        };
        let seconds = number(SECONDS, given(SECONDS), USUAL_SECONDS)?;
        let _checked = memory(variable)?;
        Ok(Self {
            disabled: given(DISABLE)
                .filter(|value| value != "0")
                .map(|value| format!("`{DISABLE}={}`", value.display())),
            keep_always,
            log: log(variable),
            remarks: given(REMARKS).map(PathBuf::from),
            time: Duration::from_secs(seconds),
        })
    }
}

fn log(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    variable(LOG).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// How much memory the optimiser may take, in bytes.
pub(super) fn memory(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<u64, String> {
    let given = variable(MEMORY).filter(|value| !value.is_empty());
    Ok(number(MEMORY, given, USUAL_MEMORY)?.saturating_mul(1 << 20))
}

fn number(name: &str, given: Option<OsString>, usual: u64) -> Result<u64, String> {
    let Some(value) = given else { return Ok(usual) };
    let number = value.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| format!("`{name}={}` is no number", value.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)]) -> Result<Settings, String> {
        let find =
            |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        Settings::read(&find)
    }

    #[test]
    fn an_empty_variable_says_nothing() {
        let usual = with(&[]).expect("nothing is wrong");
        assert!(usual.disabled.is_none() && !usual.keep_always && usual.log.is_none());
        let names = [KEEP, DISABLE, LOG, REMARKS, SECONDS, MEMORY];
        assert_eq!(with(&names.map(|name| (name, ""))), Ok(usual));
    }

    #[test]
    fn values_that_mean_nothing_are_told() {
        for (name, value) in [(KEEP, "sometimes"), (SECONDS, "long"), (MEMORY, "-1")] {
            let error = with(&[(name, value)]).expect_err("it means nothing");
            assert!(error.contains(&format!("`{name}={value}`")), "{error}");
        }
        assert!(with(&[(KEEP, "always")]).expect("it is one").keep_always);
        assert!(with(&[(DISABLE, "1")]).expect("it is set").disabled.is_some());
        assert!(with(&[(DISABLE, "0")]).expect("it is set to no").disabled.is_none());
    }
}
