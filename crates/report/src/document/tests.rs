//! One document in its three forms.

use super::*;

fn sample() -> Document {
    let mut document = Document::new("fullclock audit of db7");
    document.paragraph("Some CPU, 2 CPUs online");
    document.paragraph(Text::strong("1 finding, high: the clock runs 25 % of the time."));
    document.push(Block::Item(Item {
        severity: Severity::High,
        head: Text::strong("clock-modulation").with(Role::Quiet, "  (low confidence)"),
        body: vec![
            Block::paragraph("the clock is stopped for a part of each period, which no counter of the kernel shows"),
            Block::labelled("seen", Text::code("/dev/cpu/0/msr 0x19a = 0x14")),
            Block::labelled("", Text::code("/dev/cpu/1/msr 0x19a = 0x14")),
            Block::labelled("now", Text::code("echo a | tee /sys/devices/system/cpu/cpufreq/policy{0..1}/scaling_governor")),
        ],
    }));
    document.heading("What each CPU lost");
    let columns = [("CPU", Align::Right), ("lost", Align::Right), ("most of it", Align::Left)];
    let rows = [
        ["0", "0.5 %", "timer"],
        ["12", "10.25 %", "a task with a name | that is <long>, and goes on"],
    ];
    let rows = rows.map(|row| row.map(Text::from).into());
    document.push(Block::Table(Table::new(&columns, rows)));
    let values = Table::new(
        &[("size", Align::Left), ("rate (MiB/s)", Align::Right)],
        [vec!["2 B".into(), "1.5".into()]],
    );
    for (title, values) in [("Rates", Some(values)), ("Points", None)] {
        let drawing = maud::html! { svg {} };
        let about = "Each size once.".to_owned();
        document.push(Block::Chart(Chart { title: title.to_owned(), about, drawing, values }));
    }
    let body = vec![Block::Code("key = 1".to_owned())];
    document.push(Block::Details { summary: "The plan".to_owned(), body });
    document.push(Block::List(vec!["one".into(), Text::sentence("run `fullclock plan`")]));
    document.push(Block::Code("first line\n  second line\n".to_owned()));
    document.note(Text::sentence("`fullclock explain clock-modulation` says more."));
    document
}

fn terminal(width: usize, color: bool) -> String {
    sample().render(Format::Text(Style { color, width }))
}

#[test]
fn a_terminal_gets_aligned_text_in_which_commands_stay_whole() {
    insta::assert_snapshot!(terminal(60, false));
}

#[test]
fn a_table_that_is_too_wide_becomes_labelled_lines() {
    let text = terminal(30, false);
    assert!(text.contains("CPU         12\nlost        10.25 %\n"), "{text}");
}

#[test]
fn a_table_that_is_a_little_too_wide_wraps_its_words() {
    let columns = [("what is varied", Align::Left), ("change", Align::Right)];
    let row = |what: &str| vec![Text::from(what), Text::from("+12.34 %")];
    let mut document = Document::new("title");
    document.push(Block::Table(Table::new(&columns, [row("performance, off, idle"), row("a")])));
    let text = document.render(Format::Text(Style { color: false, width: 24 }));
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "title",
        "what is varied    change",
        "performance,    +12.34 %",
        "off, idle",
        "a               +12.34 %",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn headings_of_numbers_wrap_before_a_table_becomes_lines_and_numbers_never_do() {
    let columns = [
        ("from", Align::Left),
        ("PostgreSQL backend", Align::Right),
        ("more of the server", Align::Right),
    ];
    let row = vec!["03:08:05".into(), "12.0 %".into(), "0.1 %".into()];
    let mut document = Document::new("title");
    document.push(Block::Table(Table::new(&columns, [row])));
    let lines = |width| {
        let text = document.render(Format::Text(Style { color: false, width }));
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = [
        "title",
        "from      PostgreSQL  more of",
        "             backend      the",
        "                       server",
        "03:08:05      12.0 %    0.1 %",
    ];
    assert_eq!(lines(29), expected);
    assert!(lines(24).contains(&"PostgreSQL backend  12.0 %".to_owned()), "{:?}", lines(24));
}

#[test]
fn what_stands_before_the_first_heading_is_its_opening() {
    let text = sample().opening().render(Format::Markdown);
    assert!(text.contains("1 finding") && !text.contains("What each CPU lost"), "{text}");
}

#[test]
fn colours_change_no_letter() {
    let painted = terminal(60, true);
    assert!(painted.contains("\u{1b}["));
    let mut plain = String::new();
    let mut rest = &*painted;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain += before;
        rest = after.split_once('m').map_or("", |(_, it)| it);
    }
    assert_eq!(plain + rest, terminal(60, false));
}

#[test]
fn markdown_holds_the_same_and_escapes_what_is_not_ours() {
    insta::assert_snapshot!(sample().render(Format::Markdown));
}

#[test]
fn a_page_holds_the_same_and_loads_nothing() {
    let page = sample().render(Format::Html);
    for part in [
        "<h1>fullclock audit of db7</h1>",
        "<section class=\"item high\"><h3><span class=\"severity\">high</span>",
        "<code>/dev/cpu/1/msr 0x19a = 0x14</code>",
        "<th class=\"number\" scope=\"col\">lost</th>",
        "a task with a name | that is &lt;long&gt;, and goes on",
        "<pre tabindex=\"0\"><code>first line\n  second line</code></pre>",
        "10.25\u{a0}%",
        "<figure><figcaption><h3>Points</h3><p class=\"quiet\">Each size once.</p></figcaption><svg></svg></figure>",
        "<details><summary>Values</summary><div class=\"scroll\" tabindex=\"0\"><table>",
        "<details><summary>The plan</summary><pre tabindex=\"0\"><code>key = 1</code></pre></details>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(
        !page.contains("<script") && !page.contains("http:") && !page.contains("src="),
        "{page}"
    );
}

#[test]
fn what_a_host_says_moves_no_cursor_in_any_form() {
    let mut document = Document::new("of \u{1b}[2Jdb7");
    document.labelled("na\u{202e}me", "a\r\nb");
    document.push(Block::Code("c\u{1b}d".to_owned()));
    for format in [Format::Text(Style { color: false, width: 80 }), Format::Markdown, Format::Html]
    {
        let shown = document.render(format);
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\r']), "{shown}");
        assert!(shown.contains("u001b"), "{shown}");
    }
}

#[test]
fn a_page_gets_the_verdict_apart_and_every_other_part_with_its_roles() {
    let parts = sample().parts();
    assert_eq!(parts["title"], "fullclock audit of db7");
    assert_eq!(parts["verdict"], "1 finding, high: the clock runs 25 % of the time.");
    let blocks = parts["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), sample().blocks.len() - 1);
    assert_eq!(
        blocks[0],
        serde_json::json!({ "paragraph": [["plain", "Some CPU, 2 CPUs online"]] })
    );
    let finding = &blocks[1]["item"];
    assert_eq!((&finding["severity"], &finding["head"][0][0]), (&"high".into(), &"strong".into()));
    assert_eq!(finding["body"][1]["label"], "seen");
    assert_eq!(finding["body"][1]["text"][0][0], "code");
    let table = &blocks[3]["table"];
    assert_eq!(
        (&table["columns"][0]["is_number"], &table["columns"][2]["is_number"]),
        (&true.into(), &false.into())
    );
    assert_eq!(table["rows"][1][1], serde_json::json!([["plain", "10.25 %"]]));
}
