//! Text of an input, made safe to print: control characters become symbols, so that an input cannot send escape sequences
//! to a terminal.

/// A character, unless it is a line feed or one of the control characters for which there are no symbols: those are not
/// ASCII.
pub(crate) fn visible(character: char) -> char {
    let other_control = character.is_control() && !character.is_ascii();
    if other_control || character == '\n' { char::REPLACEMENT_CHARACTER } else { character }
}

/// A character of an input, safe for a terminal: control characters become symbols.
pub(crate) fn harmless(character: char) -> char {
    match character {
        '\u{7f}' => '␡',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).expect("there is a symbol for each"),
        other => visible(other),
    }
}

/// Text on one line.
pub(crate) fn shown(text: &str) -> String {
    text.chars().map(harmless).collect()
}
