//! Who needs the token, how a browser signs in with it, and where it is shown.

use crate::serve::server::Server;
use crate::support::{fullclock, refusal};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// A line of `Cookie` for the pair that a line of `Set-Cookie` has.
fn cookie(head: &str) -> String {
    let set = head.split("set-cookie: ").nth(1).unwrap();
    format!("Cookie: {}\r\n", set.split(';').next().unwrap())
}

#[test]
fn a_browser_exchanges_the_token_for_a_cookie_that_opens_the_servers_own_pages() {
    let (server, token) = Server::with_token();
    let post = |headers: &str| {
        let head = format!(
            "POST /api/v1/session HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n{headers}\r\n",
            server.at
        );
        server.answer(head.as_bytes())
    };
    let get = |path: &str, headers: &str| {
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n",
            server.at
        );
        server.answer(head.as_bytes())
    };
    let html = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";
    let page = get("/", html);
    assert_eq!(page.status, 401);
    assert!(page.body.contains("id=\"sign-in\""), "{}", page.body);
    assert!(page.head.contains("www-authenticate: bearer"), "{}", page.head);
    assert!(!page.head.contains("basic"), "a browser asks for a password then: {}", page.head);
    for (path, status) in
        [("/assets/sign-in.js", 200), ("/assets/fullclock.css", 200), ("/assets/page.js", 401)]
    {
        assert_eq!(get(path, "").status, status, "{path}");
    }
    for wrong in ["", "Authorization: Bearer wrong\r\n", "Cookie: fullclock-80=1\r\n"] {
        let answer = post(wrong);
        assert_eq!((answer.status, answer.head.contains("set-cookie")), (401, false), "{wrong}");
    }
    let signed_in = post(&format!("Authorization: Bearer {token}\r\n"));
    assert_eq!(signed_in.status, 204);
    assert!(signed_in.head.contains("; path=/; httponly; samesite=strict"), "{}", signed_in.head);
    assert!(!signed_in.head.contains(&token), "{}", signed_in.head);
    let cookie = cookie(&signed_in.head);
    for (path, more, status) in [
        ("/", html, 200),
        ("/api/v1/machine", "", 200),
        ("/api/v1/machine", "Sec-Fetch-Site: same-origin\r\n", 200),
        ("/api/v1/machine", "Sec-Fetch-Site: same-site\r\n", 401),
        ("/api/v1/machine", "Origin: http://127.0.0.1:1\r\n", 401),
        ("/metrics", "", 200),
    ] {
        assert_eq!(get(path, &format!("{cookie}{more}")).status, status, "{path} {more}");
    }
    assert_eq!(post(&cookie).status, 401);
    let head = "GET /api/v1/machine HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n";
    assert_eq!(server.answer(format!("{head}{cookie}\r\n").as_bytes()).status, 421);
    let bearer = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(get("/api/v1/session", &bearer).status, 405);
    let (results, _) = server.stop();
    let file = results.path().join("serve.token").to_str().unwrap().to_owned();
    let server = Server::over(results, "127.0.0.1:0", &["--token-file", &file]);
    assert_eq!(server.get("/metrics", &bearer).status, 200, "the token outlives its server");
    assert_eq!(server.get("/metrics", &cookie).status, 401, "and a cookie does not");
}

#[test]
fn another_local_user_cannot_use_the_cookie_of_a_browser() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root sends requests as another user");
        return;
    }
    let (server, token) = Server::with_token();
    let head = format!(
        "POST /api/v1/session HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n\
         Authorization: Bearer {token}\r\n\r\n",
        server.at
    );
    let cookie = cookie(&server.answer(head.as_bytes()).head);
    for (user, status) in [(0, "200"), (65534, "401")] {
        let mut curl = Command::new("curl");
        curl.args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", cookie.trim()]);
        curl.arg(format!("http://{}/api/v1/machine", server.at)).uid(user).current_dir("/");
        match curl.output() {
            Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout), status, "{user}"),
            Err(error) => return println!("skipped: curl cannot be run: {error}"),
        }
    }
}

/// A server as its user starts it without any option for a token; for root in a mount namespace where /var/lib is empty.
/// `None` where such a namespace cannot be had.
fn without_options(results: &str) -> Option<Command> {
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--results", results, "-i", "100ms"];
    if !rustix::process::geteuid().is_root() {
        return Some(fullclock(&arguments));
    }
    let empty = "mount -t tmpfs none /var/lib";
    let can = Command::new("unshare").args(["--mount", "sh", "-c", empty]).status();
    if !can.is_ok_and(|it| it.success()) {
        println!("skipped: root has no mount namespace of its own here");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &format!("{empty} && exec \"$0\" \"$@\"")]);
    command.arg(env!("CARGO_BIN_EXE_fullclock")).args(arguments).stdin(Stdio::null());
    Some(command)
}

#[test]
fn root_requires_the_token_on_a_loopback_address_and_a_pipe_gets_only_its_path() {
    let results = tempfile::tempdir().unwrap();
    let Some(mut command) = without_options(results.path().to_str().unwrap()) else { return };
    command.stderr(Stdio::piped());
    let mut server = Server::of(command, results);
    let mut stderr = server.child.stderr.take().unwrap();
    if !rustix::process::geteuid().is_root() {
        assert_eq!(server.get("/metrics", "").status, 200, "others have no secrets of root's here");
        return;
    }
    for path in ["/metrics", "/api/v1/results", "/api/v1/now", "/"] {
        assert_eq!(server.get(path, "").status, 401, "{path}");
    }
    let inside = format!("/proc/{}/root/var/lib/fullclock/serve.token", server.child.id());
    let token = std::fs::read_to_string(inside).unwrap().trim().to_owned();
    let bearer = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(server.get("/metrics", &bearer).status, 200);
    server.stop();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert!(said.contains("/var/lib/fullclock/serve.token") && !said.contains("***"), "{said}");
    assert!(!said.contains(&token) && !said.contains("#token"), "{said}");
}

#[test]
fn a_server_that_is_open_to_local_users_says_so_and_is_open_to_no_others() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap().to_owned();
    let mut command = fullclock(&["serve", "--listen", "127.0.0.1:0", "--results", &folder]);
    command.arg("--open-to-local-users").stderr(Stdio::piped());
    let mut server = Server::of(command, results);
    let mut stderr = server.child.stderr.take().unwrap();
    assert_eq!(server.get("/api/v1/results", "").status, 200);
    let sign_in = b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(server.answer(sign_in).status, 404, "there is nothing to sign in with");
    server.stop();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    let warns = said.contains("every user of this machine can read");
    assert_eq!(warns, rustix::process::geteuid().is_root(), "{said}");
    let said = refusal(&["serve", "--open-to-local-users", "--listen", "0.0.0.0:0"]);
    assert!(said.contains("the token is required"), "{said}");
    let said = refusal(&["serve", "--open-to-local-users", "--token-file", "token"]);
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn a_terminal_gets_a_link_that_holds_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "a+b\n").unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let binary = env!("CARGO_BIN_EXE_fullclock");
    let options = format!(
        "--listen 127.0.0.1:0 --results {0} --token-file {0}/token",
        folder.path().display()
    );
    let command = format!("timeout -s INT 2 {binary} serve {options}");
    let shown = |command: &str| {
        let ran = Command::new("script")
            .args(["-q", "-c", command, "/dev/null"])
            .stdin(Stdio::null())
            .output();
        match ran {
            Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
            Err(error) => {
                println!("skipped: script(1) of util-linux cannot be run: {error}");
                None
            }
        }
    };
    let Some(on_both) = shown(&command) else { return };
    assert_eq!(on_both.matches("/#token=a%2Bb").count(), 1, "{on_both}");
    let log = folder.path().join("log");
    let on_stderr = shown(&format!("{command} >{}", log.display())).unwrap();
    assert_eq!(on_stderr.matches("/#token=a%2Bb").count(), 1, "{on_stderr}");
    let kept = std::fs::read_to_string(&log).unwrap();
    assert!(kept.starts_with("serving http://127.0.0.1:") && !kept.contains("token="), "{kept}");
    let on_none = shown(&format!("{command} >{0} 2>&1", log.display())).unwrap();
    let kept = std::fs::read_to_string(&log).unwrap();
    assert!(!on_none.contains("token=") && !kept.contains("token="), "{on_none}{kept}");
    assert!(kept.contains(&file.display().to_string()), "{kept}");
}
