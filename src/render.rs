//! Renders diagnostics as text for people; nothing else in ptxopt does.
//!
//! An input is bytes in any encoding and may be one line of 50 MB. So only the lines that a diagnostic points at are
//! shown, each cut to the part near the place, and bytes that are not UTF-8 are read as Latin-1. Control characters are
//! shown as symbols, so that an input cannot send escape sequences to the terminal.

use crate::library::Refusal;
use crate::printable::visible;
use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Snippet};
use ptxopt_grammar::MOST_DIAGNOSTICS;
use ptxopt_grammar::diagnostic::{Diagnostic, position};
use ptxopt_grammar::tree::Span;

/// About how many bytes of a line are shown.
const MOST_OF_LINE: usize = 120;

/// How many of them stand before the place, if the line is longer.
const BEFORE_PLACE: usize = 40;

/// How many characters of a message are shown: messages quote the input.
const MOST_OF_MESSAGE: usize = 300;

/// Whether output has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Escape sequences of the terminal.
    Terminal,
    /// Plain text.
    None,
}

impl Colour {
    /// Text on one line, in a style of [`style`] if there are colours.
    pub(crate) fn paint(self, style: &str, text: &str) -> String {
        match self {
            Self::Terminal if !style.is_empty() => format!("{style}{text}{}", style::END),
            Self::Terminal | Self::None => text.to_owned(),
        }
    }
}

/// Escape sequences of the terminal.
pub(crate) mod style {
    pub(crate) const PLAIN: &str = "";
    pub(crate) const BOLD: &str = "\x1b[1m";
    pub(crate) const RED: &str = "\x1b[31m";
    pub(crate) const GREEN: &str = "\x1b[32m";
    pub(crate) const YELLOW: &str = "\x1b[33m";
    pub(crate) const CYAN: &str = "\x1b[36m";
    pub(crate) const END: &str = "\x1b[0m";
}

/// Renders messages.
#[derive(Clone, Debug)]
pub struct Renderer(annotate_snippets::Renderer);

impl Renderer {
    /// A renderer with or without colours.
    #[must_use]
    pub fn new(colour: Colour) -> Self {
        Self(match colour {
            Colour::Terminal => annotate_snippets::Renderer::styled(),
            Colour::None => annotate_snippets::Renderer::plain(),
        })
    }

    /// An error message without a place in a text.
    #[must_use]
    pub fn failure(&self, message: &str) -> String {
        let title = Group::with_title(Level::ERROR.primary_title(clean(message)));
        self.0.render(&[title]) + "\n"
    }

    /// An error message without a place in a text, with a hint.
    #[must_use]
    pub fn refusal(&self, message: &str, help: &str) -> String {
        let title = Level::ERROR.primary_title(clean(message));
        self.0.render(&[title.element(Level::HELP.message(clean(help)))]) + "\n"
    }

    /// Why `text`, whose file is `name`, was refused.
    pub(crate) fn refused(&self, name: &str, text: &[u8], refusal: &Refusal) -> String {
        match refusal {
            Refusal::Wrong(diagnostics) => self.diagnostics(name, text, diagnostics),
            Refusal::Foreign(foreign) => match foreign.diagnostic() {
                Some(diagnostic) => self.diagnostics(name, text, &[diagnostic]),
                None => self.refusal(&format!("`{name}` is {}", foreign.what), foreign.help),
            },
            Refusal::Older { target, gpu } => {
                let message =
                    format!("`{name}` is for `.target {target}`, and such code does not run on {gpu}");
                let help = format!("choose a GPU that runs code for {target}, or compile for {gpu}");
                self.refusal(&message, &help)
            }
        }
    }

    /// The errors in `text`, whose file is `name`: the first diagnostics in the order of the text, and their number.
    #[must_use]
    pub fn diagnostics(&self, name: &str, text: &[u8], diagnostics: &[Diagnostic]) -> String {
        let mut sorted: Vec<_> = diagnostics.iter().collect();
        sorted.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
        let shown = sorted.iter().take(MOST_DIAGNOSTICS);
        let mut out: String =
            shown.map(|one| self.diagnostic(Level::ERROR, name, text, one) + "\n").collect();
        let count = match diagnostics.len() {
            1 => "1 error".to_owned(),
            many if many < MOST_DIAGNOSTICS => format!("{many} errors"),
            _ => format!("{MOST_DIAGNOSTICS} errors or more"),
        };
        out += &self.failure(&format!("`{name}` is not valid PTX: {count}"));
        out
    }

    /// The first warnings about `text`; nothing if there are none.
    #[must_use]
    pub fn warnings(&self, name: &str, text: &[u8], warnings: &[Diagnostic]) -> String {
        let shown = warnings.iter().take(MOST_DIAGNOSTICS);
        let mut out: String =
            shown.map(|one| self.diagnostic(Level::WARNING, name, text, one) + "\n").collect();
        if warnings.len() >= MOST_DIAGNOSTICS {
            let title = format!("`{name}` has {MOST_DIAGNOSTICS} warnings or more");
            let title = Group::with_title(Level::WARNING.primary_title(clean(&title)));
            out += &(self.0.render(&[title]) + "\n");
        }
        out
    }

    fn diagnostic(&self, level: Level<'_>, name: &str, text: &[u8], diagnostic: &Diagnostic) -> String {
        let Diagnostic { message, span, label, related, help } = diagnostic;
        let place = Excerpt::new(text, span);
        let mut marks = vec![place.annotation(AnnotationKind::Primary, label)];
        let related = related.as_ref().map(|(span, label)| (Excerpt::new(text, span), span, label));
        let mut elsewhere = Vec::new();
        if let Some((other, span, label)) = &related {
            match place.locate(span) {
                Some(at) => marks.push(AnnotationKind::Context.span(at).label(clean(label))),
                None => {
                    elsewhere = other.elements(name, vec![other.annotation(AnnotationKind::Context, label)]);
                }
            }
        }
        let title = level.primary_title(clean(message));
        let mut group = title.elements(place.elements(name, marks)).elements(elsewhere);
        if let Some(help) = help {
            group = group.element(Level::HELP.message(clean(help)));
        }
        self.0.render(&[group]) + "\n"
    }
}

/// Part of one line of a text, decoded, with the place that a message points at.
struct Excerpt {
    line: usize,
    /// In characters, from 1, in the whole line.
    column: usize,
    cut_before: bool,
    /// The bytes of the text that were decoded.
    window: Span,
    decoded: String,
    /// Where each byte of the window, and its end, lies in `decoded`.
    offsets: Vec<usize>,
    /// The place, in `decoded`.
    place: Span,
}

impl Excerpt {
    /// The line where `span` begins; further lines of the span are left out.
    fn new(text: &[u8], span: &Span) -> Self {
        let start = span.start.min(text.len());
        let line_start = text[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let length = text[start..].iter().position(|&byte| byte == b'\n');
        let line_end = length.map_or(text.len(), |length| start + length);
        let window = window(text, line_start..line_end, start);
        let cut = (window.start > line_start, window.end < line_end);
        let (decoded, offsets) = decode(&text[window.clone()], cut);
        let mut excerpt = Self {
            line: position(text, start).line,
            column: characters(&text[line_start..start]) + 1,
            cut_before: cut.0,
            window,
            decoded,
            offsets,
            place: 0..0,
        };
        excerpt.place = excerpt.to_decoded(start)..excerpt.to_decoded(span.end);
        excerpt
    }

    fn to_decoded(&self, offset: usize) -> usize {
        let within = offset.clamp(self.window.start, self.window.end) - self.window.start;
        self.offsets[within]
    }

    /// Where a span lies in the decoded text, if all of it is shown there.
    fn locate(&self, span: &Span) -> Option<Span> {
        let shown = self.window.start <= span.start && span.end <= self.window.end && span.start <= span.end;
        shown.then(|| self.to_decoded(span.start)..self.to_decoded(span.end))
    }

    /// The line, and where it is.
    fn elements<'a>(&'a self, name: &'a str, marks: Vec<Annotation<'a>>) -> Vec<Element<'a>> {
        let snippet = Snippet::source(&self.decoded).line_start(self.line).annotations(marks);
        if !self.cut_before {
            return vec![snippet.path(name).into()];
        }
        // The renderer would count the column from where the line was cut.
        vec![Origin::path(name).line(self.line).char_column(self.column).into(), snippet.into()]
    }

    fn annotation<'a>(&self, kind: AnnotationKind, label: &str) -> Annotation<'a> {
        let annotation = kind.span(self.place.clone());
        if label.is_empty() { annotation } else { annotation.label(clean(label)) }
    }
}

/// The part of `line` to show for a place that begins at `at`.
fn window(text: &[u8], line: Span, at: usize) -> Span {
    let mut end = line.end;
    // The end of a line in a file from Windows.
    if end > line.start.max(at) && text[end - 1] == b'\r' {
        end -= 1;
    }
    if end - line.start <= MOST_OF_LINE {
        return line.start..end;
    }
    let latest = end.saturating_sub(MOST_OF_LINE).max(line.start);
    let mut start = at.saturating_sub(BEFORE_PLACE).clamp(line.start, latest);
    let mut end = (start + MOST_OF_LINE).clamp(at, end);
    // No character of UTF-8 is cut; in Latin-1, a few more bytes do no harm.
    let inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    for _ in 0..3 {
        start -= usize::from(start > line.start && inside(start));
        end += usize::from(end < line.end && inside(end));
    }
    start..end
}

/// `bytes` as text, and where each byte, and the end, lies in it; with marks where the line was cut.
fn decode(bytes: &[u8], (cut_before, cut_after): (bool, bool)) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(bytes.len() + 6);
    let mut offsets = Vec::with_capacity(bytes.len() + 1);
    text.push_str(if cut_before { "…" } else { "" });
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            offsets.extend(std::iter::repeat_n(text.len(), character.len_utf8()));
            text.push(visible(character));
        }
        for &byte in chunk.invalid() {
            offsets.push(text.len());
            text.push(visible(char::from(byte)));
        }
    }
    offsets.push(text.len());
    text.push_str(if cut_after { "…" } else { "" });
    (text, offsets)
}

/// How many characters `bytes` are, decoded.
fn characters(bytes: &[u8]) -> usize {
    bytes.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

/// A message on one line and of bounded length.
fn clean(message: &str) -> String {
    let mut characters = message.chars();
    let mut clean: String = characters.by_ref().take(MOST_OF_MESSAGE).map(visible).collect();
    if characters.next().is_some() {
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &[u8], span: Span) -> String {
        let diagnostic = Diagnostic::new(span, "message").label("label");
        Renderer::new(Colour::None).diagnostics("x.ptx", text, &[diagnostic])
    }

    /// The line with the carets, and the line above it.
    fn marked(rendered: &str) -> (String, String) {
        let lines: Vec<_> = rendered.lines().collect();
        let carets = lines.iter().position(|line| line.contains('^')).expect("something is marked");
        (lines[carets - 1].to_owned(), lines[carets].to_owned())
    }

    /// What stands above the carets.
    fn marked_text(rendered: &str) -> String {
        let (source, carets) = marked(rendered);
        let above = source.chars().zip(carets.chars());
        above.filter(|&(_, caret)| caret == '^').map(|(character, _)| character).collect()
    }

    #[test]
    fn latin_1_and_utf_8_are_marked_where_they_are() {
        assert_eq!(marked_text(&render(b"// caf\xE9 here\n", 8..12)), "here");
        assert_eq!(marked_text(&render("// café here\n".as_bytes(), 9..13)), "here");
        assert_eq!(marked_text(&render(b"caf\xE9", 3..4)), "é");
        assert!(render(b"// caf\xE9 here\n", 8..12).contains("x.ptx:1:9"));
        assert!(render("// café here\n".as_bytes(), 9..13).contains("x.ptx:1:9"));
    }

    #[test]
    fn control_characters_are_harmless() {
        let rendered = render(b"a\x1b[31m\0\x07\x9b b\r\n", 10..11);
        assert!(rendered.chars().all(|c| c == '\n' || !c.is_control()), "{rendered:?}");
        assert_eq!(marked_text(&rendered), "b");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let mut text = b"x ".repeat(1_000_000);
        text[1_000_000..1_000_004].copy_from_slice(b"here");
        for (span, column) in
            [(1_000_000..1_000_004, 1_000_001), (0..1, 1), (1_999_998..1_999_999, 1_999_999)]
        {
            let rendered = render(&text, span.clone());
            assert!(rendered.len() < 1000, "{rendered}");
            assert!(rendered.contains(&format!("x.ptx:1:{column}\n")), "{rendered}");
            assert_eq!(marked_text(&rendered).as_bytes(), &text[span]);
        }
    }

    #[test]
    fn a_long_line_of_wide_characters_is_not_cut_inside_one() {
        for shift in 0..4 {
            let text = format!("{}{}here{0}", "ä€😀".repeat(1000), "x".repeat(shift));
            let at = text.find("here").expect("it is there");
            let rendered = render(text.as_bytes(), at..at + 4);
            assert!(!rendered.contains(['Ã', 'â', 'ð', '\u{FFFD}']), "{rendered}");
        }
    }

    #[test]
    fn every_span_renders() {
        let text = b"a\r\n\r\n\xE9\xFF\tb\0\n\nlast";
        for start in 0..=text.len() + 2 {
            for end in start..=text.len() + 2 {
                let related = Diagnostic::new(start..end, "message").related(end..end + 1, "label");
                for text in [text.as_slice(), b"", b"\n", b"\0", b"\xF0"] {
                    let rendered = Renderer::new(Colour::Terminal).diagnostics(
                        "x",
                        text,
                        std::slice::from_ref(&related),
                    );
                    assert!(rendered.contains("message"));
                }
            }
        }
    }

    #[test]
    fn a_long_message_is_cut_and_stays_on_its_line() {
        let rendered = Renderer::new(Colour::None).failure(&"a\nb".repeat(1000));
        assert!(rendered.chars().count() < 400 && rendered.lines().count() == 1, "{rendered}");
    }

    #[test]
    fn errors_are_sorted_counted_and_limited() {
        let text = b"a\n".repeat(30);
        let diagnostics: Vec<_> =
            (0..30).rev().map(|i| Diagnostic::new(2 * i..2 * i + 1, "message")).collect();
        let rendered = Renderer::new(Colour::None).diagnostics("x", &text, &diagnostics);
        let places: Vec<_> = rendered.lines().filter(|line| line.contains("--> ")).collect();
        assert_eq!(places.len(), MOST_DIAGNOSTICS);
        assert_eq!((places[0].trim(), places[19].trim()), ("--> x:1:1", "--> x:20:1"));
        assert!(rendered.ends_with("error: `x` is not valid PTX: 20 errors or more\n"), "{rendered}");
    }

    #[test]
    fn a_related_place_is_shown_with_its_line() {
        let diagnostic = Diagnostic::new(20..21, "message").related(0..5, "declared here").help("do this");
        let rendered =
            Renderer::new(Colour::None).diagnostics("x", b"first\n2\n3\n4\n5\n6\n7\n8\nz\n", &[diagnostic]);
        assert!(rendered.contains("x:1:1") && rendered.contains("declared here"), "{rendered}");
        assert!(rendered.contains("help: do this"), "{rendered}");
    }
}
