//! A schema of our own in a user's PostgreSQL server: named, claimed, and dropped at the next start where its owner was killed.
//!
//! A schema belongs to whoever holds the advisory lock of its name; the server gives that lock back when the session ends,
//! however it ends. Dropped are schemas only whose name, comment and owner say that they were made here.

use crate::failure::Failure;

/// Drops the schemas of this kind that killed runs left, and names the session's own.
pub(crate) fn claim(kind: &str) -> String {
    format!(
        "\
DO $$ DECLARE left_over name; BEGIN
  FOR left_over IN SELECT nspname FROM pg_namespace
    WHERE nspname ~ '^fullclock_{kind}_[0-9]+$' AND obj_description(oid, 'pg_namespace') = 'made by fullclock'
      AND nspowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
  LOOP
    IF pg_try_advisory_lock(hashtext('fullclock'), hashtext(left_over::text)) THEN
      EXECUTE format('DROP SCHEMA %I CASCADE', left_over);
      PERFORM pg_advisory_unlock(hashtext('fullclock'), hashtext(left_over::text));
    END IF;
  END LOOP;
  PERFORM pg_advisory_lock(hashtext('fullclock'), hashtext('fullclock_{kind}_' || pg_backend_pid()));
END $$;
SELECT 'fullclock_{kind}_' || pg_backend_pid();"
    )
}

/// The name in the answer to [`claim`]; it becomes part of statements.
pub(crate) fn claimed(kind: &str, rows: &[String]) -> Result<String, Failure> {
    let is_name = |it: &&String| {
        let number = it.strip_prefix(&format!("fullclock_{kind}_"));
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    let name = rows.first().filter(is_name).cloned();
    name.ok_or_else(|| Failure::NoFigure("the server named no schema".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_none_never_becomes_part_of_a_statement() {
        let claimed = |name: &str| claimed("build", &[name.to_owned()]).ok();
        assert_eq!(claimed("fullclock_build_123").unwrap(), "fullclock_build_123");
        for name in
            ["", "fullclock_build_", "fullclock_build_1; DROP", "public", "fullclock_commit_1"]
        {
            assert_eq!(claimed(name), None, "{name}");
        }
    }
}
