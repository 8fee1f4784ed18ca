//! scratch
fn main() {
    let mut bad = 0;
    let mut n = 0;
    for path in std::env::args().skip(1) {
        let text = std::fs::read(&path).unwrap();
        n += 1;
        let t = std::time::Instant::now();
        match ptxopt_grammar::parse(&text) {
            Ok(m) => {
                let dt = t.elapsed().as_secs_f64();
                if text.len() > 1_000_000 {
                    println!("{path}: {:.1} MB/s {} stmts", text.len() as f64 / dt / 1e6, m.stmts().len());
                }
                if std::env::var("BAD").is_ok() {
                    println!(
                        "{path}: ACCEPTED   {}",
                        String::from_utf8_lossy(text.split(|b| *b == b'\n').next().unwrap())
                    );
                }
            }
            Err(ds) => {
                bad += 1;
                for d in ds.iter().take(3) {
                    let p = ptxopt_grammar::diagnostic::position(&text, d.span.start);
                    println!("{path}:{}:{}: {} ({})", p.line, p.column, d.message, d.label);
                }
            }
        }
    }
    println!("{n} files, {bad} bad");
}
