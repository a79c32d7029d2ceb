//! Content negotiation by the Accept header: RFC 9110, 12.5.1, with quality values (12.4.2).

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use std::cmp::Reverse;

/// A media type that an answer can have.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    /// `type/subtype`, in lower case.
    pub(super) media_type: &'static str,
    /// Its `version` parameter, where the type has versions.
    pub(super) version: Option<&'static str>,
}

/// One element of the header: a media range and its weight.
struct Range<'a> {
    main: &'a str,
    sub: &'a str,
    version: Option<&'a str>,
    /// From 0 to 1,000; 0 is "not acceptable".
    weight: u16,
}

/// The position of the offer that a request prefers: the highest weight, and of equal weights the first. A request that accepts
/// everything, or lists none of the offers, gets the first one that it does not exclude. `None` if it excludes all with `q=0`.
pub(super) fn preferred(headers: &HeaderMap, offers: &[Offer]) -> Option<usize> {
    let lines = headers.get_all(ACCEPT).iter().filter_map(|it| it.to_str().ok());
    let ranges: Vec<Range<'_>> =
        lines.flat_map(|it| split(it, ',')).filter_map(Range::parse).collect();
    if ranges.is_empty() {
        return Some(0);
    }
    let weights: Vec<Option<u16>> = offers.iter().map(|it| weight_of(*it, &ranges)).collect();
    let acceptable = weights.iter().enumerate().filter(|(_, it)| it.is_some_and(|it| it > 0));
    let best = acceptable.max_by_key(|(at, weight)| (**weight, Reverse(*at)));
    // RFC 9110, 12.5.1: where nothing that is listed can be sent, the header may be disregarded.
    best.map(|(at, _)| at).or_else(|| weights.iter().position(Option::is_none))
}

/// The weight of the most specific range that an offer matches.
fn weight_of(offer: Offer, ranges: &[Range<'_>]) -> Option<u16> {
    let matching = ranges.iter().filter_map(|it| Some((it.specificity(offer)?, it.weight)));
    matching.max().map(|(_, weight)| weight)
}

impl<'a> Range<'a> {
    /// Parameters other than `q` and `version` do not choose between our offers and are ignored, as Prometheus' `escaping`.
    fn parse(text: &'a str) -> Option<Range<'a>> {
        let mut parts = split(text, ';').map(str::trim);
        let (main, sub) = match parts.next()? {
            // Written by Java's HttpURLConnection.
            "*" => ("*", "*"),
            range => range.split_once('/')?,
        };
        if main.is_empty() || sub.is_empty() {
            return None;
        }
        let (mut version, mut weight) = (None, 1000);
        for (name, value) in parts.filter_map(|it| it.split_once('=')) {
            let (name, value) = (name.trim(), value.trim());
            if name.eq_ignore_ascii_case("q") {
                weight = weight_from(value)?;
            } else if name.eq_ignore_ascii_case("version") {
                version = Some(value.trim_matches('"'));
            }
        }
        Some(Range { main, sub, version, weight })
    }

    /// How closely it describes an offer; `None` where it does not match.
    fn specificity(&self, offer: Offer) -> Option<u8> {
        let (main, sub) = offer.media_type.split_once('/')?;
        match (self.main, self.sub) {
            ("*", "*") => Some(0),
            (own, "*") => own.eq_ignore_ascii_case(main).then_some(1),
            (own, own_sub) => {
                if !own.eq_ignore_ascii_case(main) || !own_sub.eq_ignore_ascii_case(sub) {
                    return None;
                }
                match self.version {
                    None => Some(2),
                    Some(version) => (offer.version == Some(version)).then_some(3),
                }
            }
        }
    }
}

/// A quality value in thousandths; `None` where it is none.
fn weight_from(text: &str) -> Option<u16> {
    let is_number = !text.is_empty() && text.chars().all(|it| it.is_ascii_digit() || it == '.');
    let value: f64 = text.parse().ok().filter(|it| is_number && (0.0..=1.0).contains(it))?;
    Some((value * 1000.0).round() as u16)
}

/// The parts of a list, where a separator between double quotes separates nothing.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |it| {
        is_quoted ^= it == '"';
        it == separator && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERS: [Offer; 2] = [
        Offer { media_type: "text/plain", version: Some("0.0.4") },
        Offer { media_type: "application/openmetrics-text", version: Some("1.0.0") },
    ];

    fn chosen(lines: &[&str]) -> &'static str {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT, line.parse().unwrap());
        }
        preferred(&headers, &OFFERS).map_or("none", |it| ["text", "open"][it])
    }

    #[test]
    fn the_highest_quality_value_decides_between_the_text_format_and_openmetrics() {
        for (accept, expected) in [
            ("", "text"),
            ("*/*", "text"),
            ("*", "text"),
            ("text/plain", "text"),
            ("application/openmetrics-text", "open"),
            ("Application/OpenMetrics-Text; Version=1.0.0; Q=1", "open"),
            ("application/openmetrics-text;q=0, text/plain", "text"),
            ("application/openmetrics-text;q=0.000, */*", "text"),
            ("application/openmetrics-text;q=0", "text"),
            ("application/openmetrics-text;q=0.3, text/plain;q=0.4", "text"),
            ("application/openmetrics-text;q=0.4, text/plain;q=0.3", "open"),
            ("application/openmetrics-text;q=0.5, text/plain;q=0.5", "text"),
            ("text/plain;q=0, */*;q=0.1", "open"),
            ("text/*;q=0, */*", "open"),
            ("application/*;q=0.9, text/plain;q=0.8", "open"),
            ("application/*;q=0.9, application/openmetrics-text;q=0.1, text/plain;q=0.2", "text"),
            ("*/*;q=0.9, text/plain;q=0.1", "open"),
            // No version of ours: the type that is listed as well, or the default.
            ("application/openmetrics-text;version=0.0.1, text/plain;version=0.0.4;q=0.5", "text"),
            ("application/openmetrics-text;version=\"1.0.0\", text/plain;q=0.5", "open"),
            ("application/vnd.google.protobuf", "text"),
            ("application/json", "text"),
            // A separator between quotes, and elements that cannot be read.
            ("x/y;a=\"1,text/plain;q=0\", application/openmetrics-text", "open"),
            ("nonsense, /, text/, application/openmetrics-text;q=2, text/plain;q=0.1", "text"),
            ("application/openmetrics-text;q=inf, text/plain;q=-1", "text"),
            ("text/plain;q=.2, application/openmetrics-text;q=.3", "open"),
            // Excluded, all of them.
            ("*/*;q=0", "none"),
            ("text/plain;q=0, application/openmetrics-text;q=0", "none"),
            ("text/plain, */*;q=0", "text"),
        ] {
            assert_eq!(chosen(&[accept]), expected, "{accept}");
        }
        assert_eq!(chosen(&[]), "text");
        assert_eq!(chosen(&["text/plain;q=0.5", "application/openmetrics-text"]), "open");
    }

    #[test]
    fn a_request_of_prometheus_is_answered_with_openmetrics() {
        // Prometheus 3.0: scrape/scrape.go, acceptHeader().
        let accept = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
             application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,\
             text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        assert_eq!(chosen(&[accept]), "open");
    }
}
