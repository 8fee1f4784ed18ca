//! What to do with a module, and for which GPU.

use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser;
use std::fmt;

/// What to do, and for which GPU. The default is everything, for the module's own `.target`.
///
/// ```
/// use ptxopt::Options;
///
/// let options = Options::new().gpu("sm_75")?.gpu("sm_90a")?.passes("fold,simplify,lower,dce")?.explain(true);
/// assert!(Options::new().gpu("sm_9000").is_err());
/// # drop(options);
/// # Ok::<(), ptxopt::UnknownName>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    pub(super) optimiser: optimiser::Options,
    pub(crate) strict: bool,
}

/// A name that there is not: of a GPU or of a pass. It says which there are.
///
/// ```
/// let unknown = ptxopt::Options::new().passes("simplfy").expect_err("there is no such pass");
/// assert!(unknown.to_string().contains("simplify"), "{unknown}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName(String);

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownName {}

impl Default for Options {
    fn default() -> Self {
        Self {
            optimiser: optimiser::Options { explain: false, ..optimiser::Options::default() },
            strict: false,
        }
    }
}

impl Options {
    /// Everything, for the module's own `.target`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Optimises for a GPU such as `sm_90`, `sm_90a` or `90` instead of the module's `.target`; of several, nothing is
    /// written that is worse on any of them.
    ///
    /// # Errors
    ///
    /// If there is no such GPU.
    pub fn gpu(mut self, name: &str) -> Result<Self, UnknownName> {
        let unknown = |known| UnknownName(format!("`{name}`: {known}"));
        self.optimiser.gpus.push(Gpu::named(name).map_err(unknown)?);
        Ok(self)
    }

    /// Whether `.target` may be raised, up to the GPU and only where new instructions need it, and `.version` with it.
    /// Code for GPUs before sm_70 that relies on warps in lockstep without barriers must not be raised to later ones.
    ///
    /// ```
    /// use ptxopt::{Options, optimize};
    ///
    /// let text = b".version 7.0\n.target sm_80\n.func (.reg .b32 %d) f(.reg .b32 %a, .reg .b32 %b)\n{
    ///     vmax2.s32.s32.s32 %d, %a, %b, %a;\n    ret;\n}\n";
    /// let options = Options::new().gpu("sm_90")?;
    /// let new = optimize(text, &options.clone().raise_target(true))?.text.expect("it gets cheaper");
    /// assert!(new.starts_with(b".version 8.0\n.target sm_90\n") && String::from_utf8(new)?.contains("max.s16x2"));
    /// let new = optimize(text, &options)?.text.expect("it gets cheaper");
    /// assert!(new.starts_with(b".version 7.0\n.target sm_80\n") && !String::from_utf8(new)?.contains("max.s16x2"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn raise_target(mut self, yes: bool) -> Self {
        self.optimiser.raise.target = yes;
        self
    }

    /// Whether `.version` may be raised where new instructions need it.
    ///
    /// ```
    /// use ptxopt::{Options, optimize};
    ///
    /// let text = b".version 7.8\n.target sm_90\n.func (.reg .b32 %d) f(.reg .b32 %a, .reg .b32 %b)\n{
    ///     vmax2.s32.s32.s32 %d, %a, %b, %a;\n    ret;\n}\n";
    /// let new = optimize(text, &Options::new().raise_version(true))?.text.expect("it gets cheaper");
    /// assert!(new.starts_with(b".version 8.0\n") && String::from_utf8(new)?.contains("max.s16x2"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn raise_version(mut self, yes: bool) -> Self {
        self.optimiser.raise.version = yes;
        self
    }

    /// The passes that run, separated by commas; an empty list runs none.
    ///
    /// # Errors
    ///
    /// If there is no such pass.
    pub fn passes(mut self, list: &str) -> Result<Self, UnknownName> {
        let selection = ptxopt_passes::select(list).map_err(|unknown| UnknownName(unknown.to_string()))?;
        self.optimiser.passes = selection.passes();
        Ok(self)
    }

    /// Whether remarks also say why other statements stay as they are. That takes longer; the text is the same.
    #[must_use]
    pub fn explain(mut self, yes: bool) -> Self {
        self.optimiser.explain = yes;
        self
    }

    /// Whether unknown instructions, modifiers and directives are errors. Otherwise they are kept, and nothing is
    /// assumed about what they do.
    ///
    /// ```
    /// use ptxopt::{Options, optimize};
    ///
    /// let text = b".version 8.0\n.target sm_90\n.func f()\n{\n    frobnicate.b32;\n}\n";
    /// assert!(optimize(text, &Options::new()).is_ok());
    /// assert!(optimize(text, &Options::new().strict(true)).is_err());
    /// ```
    #[must_use]
    pub fn strict(mut self, yes: bool) -> Self {
        self.strict = yes;
        self
    }

    /// Leaves a function as it is; `why` becomes a remark, where [`explain`](Self::explain) asks for those.
    ///
    /// ```
    /// use ptxopt::{Options, optimize};
    ///
    /// let text = b".version 8.0\n.target sm_90\n.func (.reg .b32 %d) f(.reg .b32 %a)\n{
    ///     vadd.s32.s32.s32 %d, %a, 5;\n    ret;\n}\n";
    /// let options = Options::new().leave("f", "it is measured by hand");
    /// assert!(optimize(text, &options)?.text.is_none());
    /// # Ok::<(), ptxopt::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn leave(mut self, function: impl Into<String>, why: impl Into<String>) -> Self {
        self.optimiser.leave.insert(function.into(), why.into());
        self
    }

    /// Makes at most so many rewrites: a faulty one is found by bisecting.
    ///
    /// ```
    /// use ptxopt::{Options, optimize};
    ///
    /// let text = b".version 8.0\n.target sm_90\n.func (.reg .b32 %d) f(.reg .b32 %a)\n{
    ///     vadd.s32.s32.s32 %d, %a, 5;\n    ret;\n}\n";
    /// assert!(optimize(text, &Options::new().limit(0))?.text.is_none());
    /// assert!(optimize(text, &Options::new().limit(1))?.text.is_some());
    /// # Ok::<(), ptxopt::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn limit(mut self, most: u64) -> Self {
        self.optimiser.limit = Some(most);
        self
    }

    /// On how many threads functions are optimised, at most; the default is 1, the caller's own. The result does not
    /// depend on it.
    ///
    /// ```
    /// use ptxopt::{Options, optimize};
    ///
    /// let text = b".version 8.0\n.target sm_90\n.func (.reg .b32 %d) f(.reg .b32 %a)\n{
    ///     vadd.s32.s32.s32 %d, %a, 5;\n    ret;\n}\n";
    /// let one = optimize(text, &Options::new())?;
    /// assert_eq!(one.text, optimize(text, &Options::new().threads(4))?.text);
    /// # Ok::<(), ptxopt::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn threads(mut self, most: usize) -> Self {
        self.optimiser.threads = most.max(1);
        self
    }
}
