//! The solver: the only module that depends on which solver is used.
//!
//! Its effort is counted in learnt clauses, which depend on the clauses and questions alone, never on time, memory
//! or addresses: the same questions in the same order end the same way on every machine. Where there are many
//! variables, each takes longer, so each counts for more.

use batsat::{Callbacks, ClauseKind, Lit, Solver as Batsat, SolverInterface, SolverOpts, lbool};

/// A variable of the solver or its complement.
pub(super) type Literal = Lit;

/// What a solver answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SolverAnswer {
    /// There is an assignment; ask [`Solver::value`].
    Satisfiable,
    /// There is none.
    Unsatisfiable,
    /// The budget ended first.
    Unknown,
}

/// With so many variables a conflict counts twice, with twice as many three times. A multiplier of 64 bits has
/// 30,000.
const VARIABLES: u64 = 1000;

/// Counts conflicts and what they cost, and stops at a limit.
#[derive(Default)]
struct Count {
    conflicts: u64,
    variables: u64,
    effort: u64,
    limit: u64,
}

impl Callbacks for Count {
    fn on_new_clause(&mut self, _clause: &[Lit], kind: ClauseKind) {
        if matches!(kind, ClauseKind::Learnt) {
            self.conflicts += 1;
            self.effort += 1 + self.variables / VARIABLES;
        }
    }

    fn stop(&self) -> bool {
        self.effort >= self.limit
    }
}

pub(super) struct Solver {
    inner: Batsat<Count>,
    clause: Vec<Lit>,
}

impl Solver {
    pub(super) fn new() -> Self {
        Self { inner: Batsat::new(SolverOpts::default(), Count::default()), clause: Vec::new() }
    }

    pub(super) fn variable(&mut self) -> Var {
        self.inner.cb_mut().variables += 1;
        self.inner.new_var_default()
    }

    pub(super) fn literal(variable: Var, inverted: bool) -> Literal {
        Lit::new(variable, !inverted)
    }

    pub(super) fn clause(&mut self, literals: &[Literal]) {
        self.clause.clear();
        self.clause.extend_from_slice(literals);
        self.inner.add_clause_reuse(&mut self.clause);
    }

    /// How many conflicts there were so far.
    pub(super) fn conflicts(&self) -> u64 {
        self.inner.cb().conflicts
    }

    /// What they cost: as many where there are few variables, and more where there are many.
    pub(super) fn effort(&self) -> u64 {
        self.inner.cb().effort
    }

    /// Whether all clauses and the assumptions can hold, with at most so much effort more.
    pub(super) fn solve(&mut self, assumptions: &[Literal], effort: u64) -> SolverAnswer {
        self.inner.cb_mut().limit = self.effort() + effort;
        match self.inner.solve_limited(assumptions) {
            answer if answer == lbool::TRUE => SolverAnswer::Satisfiable,
            answer if answer == lbool::FALSE => SolverAnswer::Unsatisfiable,
            _ => SolverAnswer::Unknown,
        }
    }

    /// The value in the assignment that was found; an unassigned variable may have either.
    pub(super) fn value(&self, variable: Var) -> bool {
        self.inner.value_var(variable) == lbool::TRUE
    }
}

pub(super) use batsat::Var;
