//! An optimiser for PTX, the assembly text of NVIDIA GPUs: video instructions and byte-wise code become cheaper, every
//! rewrite is proved for all inputs, everything else stays as it is, byte for byte.
//!
//! [`optimize`] is the whole library: text in, text out, without files, clocks, terminals or a GPU. It is meant for
//! programs that generate PTX or are about to load it. They depend on it without the command, by the path of a copy of
//! its repository, since it is in no registry:
//!
//! ```toml
//! ptxopt = { path = "../ptxopt", default-features = false }
//! ```
//!
//! ```
//! # let ptx = ".version 8.0\n.target sm_90\n".to_owned();
//! use ptxopt::{Options, optimize};
//!
//! let options = Options::new().gpu("sm_90")?;
//! let ptx: Vec<u8> = match optimize(ptx.as_bytes(), &options) {
//!     Ok(outcome) => outcome.text.unwrap_or(ptx.into_bytes()),
//!     // Whatever ptxopt does not understand is left to NVIDIA's assembler.
//!     Err(_) => ptx.into_bytes(),
//! };
//! # drop(ptx);
//! # Ok::<(), ptxopt::UnknownName>(())
//! ```
//!
//! With the feature `build` there is a builder for build scripts, `ptxopt::build::Ptx`. With the feature `cli`, which is
//! on by default, the package has the commands `ptxopt` and `ptxopt-ptxas`. Their modules are public only for the tests
//! of this repository, and not documented here.

// The examples of the readme are compiled with those of these pages.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "build")]
pub mod build;
#[cfg(all(test, unix, any(feature = "build", feature = "cli")))]
#[path = "../tests/support/executable.rs"]
mod executable;
mod foreign;
mod library;
mod lines;
mod printable;

pub use library::{
    Counts, Diagnostic, Diagnostics, DiagnosticsKind, Options, Outcome, Remark, RemarkKind, UnknownName,
    optimize,
};

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod diff;
#[cfg(feature = "cli")]
mod front;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod input;
#[cfg(all(feature = "build", not(feature = "cli")))]
#[allow(dead_code, unreachable_pub, reason = "the command uses more of it")]
mod input;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod measure;
#[cfg(all(feature = "build", not(feature = "cli")))]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "the command uses more of it")]
mod measure;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod output;
#[cfg(all(feature = "build", not(feature = "cli")))]
#[allow(dead_code, unreachable_pub, reason = "the command uses more of it")]
mod output;
#[cfg(feature = "cli")]
mod picture;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod remarks;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod render;
#[cfg(all(feature = "build", not(feature = "cli")))]
#[allow(dead_code, unreachable_pub, reason = "the command uses more of it")]
mod render;
#[cfg(feature = "cli")]
mod report;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod summary;
