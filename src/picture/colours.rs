//! The colours of pictures and pages, for light and dark screens: the one list that all style sheets are made from.
//!
//! A page names them as variables. A picture that stands alone has them written out, since programs that are no browser
//! do not know variables.

use std::fmt::Write;

/// A colour: its name, and what it is on a light and on a dark screen.
pub(crate) type Colour = (&'static str, [&'static str; 2]);

/// All colours.
pub(crate) const COLOURS: &[Colour] = &[
    ("page", ["#f6f7f9", "#0f1318"]),
    ("card", ["#ffffff", "#171c23"]),
    ("text", ["#1a1f27", "#e4e8ee"]),
    ("soft", ["#525c6b", "#a3adbb"]),
    ("line", ["#d6dbe2", "#313945"]),
    ("link", ["#0b57b8", "#79b4ff"]),
    ("track", ["#e4e8ee", "#2a323d"]),
    ("bar", ["#1668c7", "#4f9bf5"]),
    ("gain", ["#11713c", "#5fd08d"]),
    ("loss", ["#b3261e", "#ff8f85"]),
    ("old", ["#fdeceb", "#3a1d1f"]),
    ("old-sign", ["#a31d16", "#ff9b92"]),
    ("new", ["#e4f6ea", "#14321f"]),
    ("new-sign", ["#0c6b37", "#6fdc9c"]),
    ("changed", ["#fff3cf", "#3d3113"]),
    ("changed-edge", ["#8a6400", "#e6bb52"]),
    ("edge", ["#6b7685", "#8b96a5"]),
    ("gap", ["#eef1f4", "#1e242d"]),
];

/// What a page says first: the colours as variables.
pub(crate) fn variables() -> String {
    let set = |which: usize| -> String {
        COLOURS.iter().fold(String::new(), |mut out, (name, values)| {
            write!(out, "--{name}:{};", values[which]).expect("a string can be written to");
            out
        })
    };
    format!(
        ":root{{color-scheme:light dark;{}}}\n@media (prefers-color-scheme:dark){{:root{{{}}}}}\n\
         @media print{{:root{{color-scheme:light;{}}}}}\n",
        set(0),
        set(1),
        set(0)
    )
}

/// A style sheet with its variables replaced by what they are, on light screens and on dark ones.
pub(crate) fn written_out(sheet: &str) -> String {
    let with = |which: usize| {
        COLOURS.iter().fold(sheet.to_owned(), |sheet, (name, values)| {
            sheet.replace(&format!("var(--{name})"), values[which])
        })
    };
    format!("{}@media (prefers-color-scheme:dark){{\n{}}}\n", with(0), with(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How bright a colour is, from 0 to 1, as the guidelines for accessible pages define it.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let value = u8::from_str_radix(&colour[at..at + 2], 16).expect("colours are in hexadecimal");
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    fn colour(name: &str) -> [&'static str; 2] {
        COLOURS.iter().find(|(known, _)| *known == name).expect("there is such a colour").1
    }

    #[test]
    fn text_can_be_read_wherever_it_stands() {
        let grounds = ["page", "card", "old", "new", "changed", "gap"];
        let texts = ["text", "soft", "link"];
        let signs = [("old-sign", "old"), ("new-sign", "new"), ("gain", "card"), ("loss", "card")];
        let pairs = texts.iter().flat_map(|text| grounds.map(|ground| (*text, ground))).chain(signs);
        for (text, ground) in pairs {
            for screen in 0..2 {
                let found = contrast(colour(text)[screen], colour(ground)[screen]);
                assert!(found >= 4.5, "{text} on {ground}: {found:.2}");
            }
        }
    }

    #[test]
    fn bars_and_edges_can_be_seen() {
        for (mark, ground) in [
            ("bar", "track"),
            ("bar", "card"),
            ("edge", "card"),
            ("changed-edge", "changed"),
            ("new-sign", "new"),
        ] {
            for screen in 0..2 {
                let found = contrast(colour(mark)[screen], colour(ground)[screen]);
                assert!(found >= 3.0, "{mark} on {ground}: {found:.2}");
            }
        }
    }

    #[test]
    fn no_variable_is_left_in_a_picture() {
        assert!(!written_out(super::super::STYLE).contains("var("));
    }
}
