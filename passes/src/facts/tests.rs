//! Every operation on small words, exhaustively.
