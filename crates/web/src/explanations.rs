//! What `fullclock explain` says of a check, as a page.

use super::answer::Refusal;
use super::results::POLICY_OF_REPORTS;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse, Response};
use report::document::Format;
use report::{documentation, explain};

/// `/explain/ID`: what an entry of the lists says of itself.
pub(super) async fn show(id: Result<Path<String>, PathRejection>) -> Result<Response, Refusal> {
    let Path(id) = id.map_err(Refusal::senseless)?;
    let page = page(&id).ok_or_else(|| Refusal::absent("nothing has this name"))?;
    Ok(([(CONTENT_SECURITY_POLICY, POLICY_OF_REPORTS)], Html(page)).into_response())
}

fn page(id: &str) -> Option<String> {
    let found = documentation::find(id);
    let (first, others) = found.split_first()?;
    Some(explain::entry(first, others).render(Format::Html))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_its_page_and_other_names_have_none() {
        for check in rules::checks::CHECKS {
            let page = page(check.id).unwrap();
            assert!(page.starts_with("<!DOCTYPE html>") && page.contains(check.id), "{}", check.id);
        }
        assert!(page("no-such-check").is_none());
    }
}
