//! Constant expressions: literals now, whole expressions when a value is asked for.

/// The value of an integer literal: decimal, octal, hexadecimal or binary, with or without `U`.
///
/// `None` where it does not fit in 64 bits.
#[must_use]
pub fn literal(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _decimal => (digits, 10),
    };
    u64::from_str_radix(digits, radix).ok()
}
