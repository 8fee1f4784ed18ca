//! Names of functions as in the source: names that C++ or Rust mangled are demangled.
//!
//! A demangled name can be exponentially longer than the mangled one, so its length is limited.

use cpp_demangle::{DemangleOptions, Symbol};
use std::fmt::{self, Write};

/// The most characters of a name; a longer one stays mangled.
const MOST: usize = 1000;

/// The name in the source, if `name` is a mangled one.
pub(crate) fn demangled(name: &str) -> Option<String> {
    let mut out = Bounded(String::new());
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return write!(out, "{rust:#}").is_ok().then_some(out.0);
    }
    let symbol = Symbol::new(name).ok().filter(|_| name.starts_with("_Z"))?;
    symbol.structured_demangle(&mut out, &DemangleOptions::new()).is_ok().then_some(out.0)
}

/// Text whose length is limited.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MOST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_and_rust_are_those_of_the_source() {
        for (mangled, name) in [
            ("_Z5blendPKjPj", Some("blend(unsigned int const*, unsigned int*)")),
            ("_ZN4core3fmt5Write9write_str17h0123456789abcdefE", Some("core::fmt::Write::write_str")),
            ("_RNvC7mycrate3foo", Some("mycrate::foo")),
            ("blend", None),
            ("_Z", None),
            ("i", None),
        ] {
            assert_eq!(demangled(mangled).as_deref(), name, "{mangled}");
        }
    }

    #[test]
    fn a_name_that_doubles_stays_as_it_is() {
        // f(X<int, int>, X<that, that>, X<that, that>, …)
        let mut name = "_Z1f1XIiiE".to_owned();
        for number in 0..60_u32 {
            let digit = |digit| char::from_digit(digit, 36).expect("it is a digit").to_ascii_uppercase();
            let digits: String =
                [number / 36, number % 36].into_iter().skip(usize::from(number < 36)).map(digit).collect();
            name += &format!("S_IS{digits}_S{digits}_E");
            if number == 1 {
                let found = demangled(&name);
                let expected = "f(X<int, int>, X<X<int, int>, X<int, int> >";
                assert!(found.as_deref().is_some_and(|found| found.starts_with(expected)), "{found:?}");
            }
        }
        assert_eq!(demangled(&name), None);
        assert_eq!(demangled(&format!("_Z2000{}v", "a".repeat(2000))), None);
    }
}
