//! Costs that are known from reading machine code, and the rules that all of them obey.
