//! The Now page of a server, as a browser on another machine shows it.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use testbench::{Bench, Forward, GUEST_ADDRESS, Step, Transcript, machines};

use super::{guest, page};

/// In the guest.
const PORT: u16 = 7077;

const TOKEN: &str = "pictures";

/// What the charts show: the shortest time range that the page offers.
const SHOWN: Duration = Duration::from_secs(60);

/// Until the guest's server is switched off. The picture is made in the meantime.
const SERVED_S: u32 = 120;

/// How long a guest may take to boot, and to answer a request.
const TO_BOOT: Duration = Duration::from_secs(300);
const TO_ANSWER: Duration = Duration::from_secs(2);

/// What the picture ends with.
const LAST: &str = "document.getElementById('clock')";

/// Makes the picture.
pub(super) fn make(bench: &Bench) -> Result<Vec<u8>> {
    let at = free_address()?;
    let network = Forward { from: at.port(), to: PORT };
    let boot = machines::watched(Some(network));
    let script = format!(
        "{}\n{}\n\
         ip link set lo up; ip link set eth0 up; ip address add {}/24 dev eth0\n\
         (umask 077; echo {TOKEN} >/tmp/token)\n\
         timeout {SERVED_S} fullclock serve --listen 0.0.0.0:{PORT} --token-file /tmp/token --results /tmp/results",
        guest::NAME,
        guest::LOAD,
        GUEST_ADDRESS,
    );
    let steps = [Step::new("serve", &script)];
    thread::scope(|scope| {
        let guest = scope.spawn(|| bench.run(&boot, &steps));
        if !is_answered(at, &guest)? {
            let transcript = guest.join().map_err(|_| anyhow!("the test bench panicked"))??;
            bail!("the guest does not serve: {:#?}", transcript.step("serve"));
        }
        thread::sleep(SHOWN);
        picture(at)
    })
}

/// An address of this machine that nobody else can reach, with a port that is free.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free")?;
    listener.local_addr().context("no port is free")
}

/// Waits until the server answers; false where its guest has ended before.
fn is_answered(at: SocketAddr, guest: &ScopedJoinHandle<'_, Result<Transcript>>) -> Result<bool> {
    let deadline = Instant::now() + TO_BOOT;
    while !guest.is_finished() {
        if answers(at) {
            return Ok(true);
        }
        ensure!(Instant::now() < deadline, "the guest did not answer in {} s", TO_BOOT.as_secs());
        thread::sleep(Duration::from_secs(1));
    }
    Ok(false)
}

/// Whether somebody answers a request. The emulator accepts every connection, long before its guest does.
fn answers(at: SocketAddr) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&at, TO_ANSWER)?;
        stream.set_read_timeout(Some(TO_ANSWER))?;
        write!(stream, "GET / HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n")?;
        stream.read(&mut [0; 16])
    };
    ask().is_ok_and(|n| n > 0)
}

/// Signs in and shows the last minute.
fn picture(at: SocketAddr) -> Result<Vec<u8>> {
    let mut tab = page::tab();
    tab.go(&format!("http://{at}/#token={TOKEN}"));
    // The page to sign in, which comes before, offers no time range.
    page::wait_for(
        &mut tab,
        "document.body.dataset.ready === 'true' && document.getElementById('span') !== null",
    )?;
    let range = SHOWN.as_secs();
    tab.evaluate(&format!(
        "(it => {{ it.value = '{range}'; it.dispatchEvent(new Event('change')) }})(document.getElementById('span'))"
    ));
    // The next interval is drawn with the new range.
    thread::sleep(Duration::from_secs(2));
    page::picture_down_to(&mut tab, LAST)
}
