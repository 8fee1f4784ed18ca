//! The solver: the only place that knows which one.
//!
//! Its effort is counted in learnt clauses, which depend on the clauses and questions alone, never on time, memory
//! or addresses: the same questions in the same order end the same way on every machine.

use batsat::{Callbacks, ClauseKind, Lit, Solver as Batsat, SolverInterface, SolverOpts, Var, lbool};

/// A variable of the solver or its complement.
pub(super) type Literal = Lit;

/// What a solver answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// There is an assignment; ask [`Solver::value`].
    Satisfiable,
    /// There is none.
    Unsatisfiable,
    /// The budget ended first.
    Unknown,
}

/// Counts conflicts, and stops at a limit.
#[derive(Default)]
struct Count {
    conflicts: u64,
    limit: u64,
}

impl Callbacks for Count {
    fn on_new_clause(&mut self, _clause: &[Lit], kind: ClauseKind) {
        self.conflicts += u64::from(matches!(kind, ClauseKind::Learnt));
    }

    fn stop(&self) -> bool {
        self.conflicts >= self.limit
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

    /// Whether all clauses and the assumptions can hold, with at most this many conflicts more.
    pub(super) fn solve(&mut self, assumptions: &[Literal], conflicts: u64) -> Answer {
        let limit = self.conflicts() + conflicts;
        self.inner.cb_mut().limit = limit;
        match self.inner.solve_limited(assumptions) {
            answer if answer == lbool::TRUE => Answer::Satisfiable,
            answer if answer == lbool::FALSE => Answer::Unsatisfiable,
            _undecided => Answer::Unknown,
        }
    }

    /// The value in the assignment that was found; an unassigned variable may have either.
    pub(super) fn value(&self, variable: Var) -> bool {
        self.inner.value_var(variable) == lbool::TRUE
    }
}

pub(super) use batsat::Var as Variable;
