//! The image, made and run as its users would; the manifest for Kubernetes, against its schema and as a pod would run it.

use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use testbench::packages::Package;

use super::{empty, path, text_of};
use crate::cargo::{program, run, target, workspace};
use crate::venv;

/// What makes and runs the image.
pub(super) const PACKAGES: &[Package] = &[
    Package { name: "buildah", purpose: "to make the image", witness: "/usr/bin/buildah" },
    Package { name: "crun", purpose: "which buildah asks for", witness: "/usr/bin/crun" },
    Package { name: "curl", purpose: "to ask a server for metrics", witness: "/usr/bin/curl" },
];
/// It has the schemas of many versions of Kubernetes in it.
const VALIDATOR: &str = "kubernetes-validate==1.37.0";
/// The oldest version and the newest against whose schemas the manifest is held.
const KUBERNETES: &[&str] = &["1.25", "1.37"];
const MANIFEST: &str = "packaging/container/daemonset.yaml";
const IMAGE: &str = "localhost/fullclock:proof";
/// Where a pod's server answers.
const PORT: &str = "7077";
/// A server that takes longer to answer does not start.
const PATIENCE: Duration = Duration::from_secs(20);

/// Makes an image of what is in the folder, and runs it. `base` is a root folder that takes the place of the image of Debian.
pub(super) fn prove(dist: &Path, base: &Path) -> Result<()> {
    valid()?;
    let storage = Storage::empty()?;
    storage.import(base)?;
    let file = workspace().join("packaging/container/Containerfile");
    let make = ["bud", "--quiet", "--isolation", "chroot", "--pull-never", "--build-arg"];
    let base = format!("BASE={BASE}");
    let of = [&*base, "--file", path(&file)?, "--tag", IMAGE, path(dist)?];
    text_of(storage.buildah(&[&make[..], &of].concat()))?;
    let container = text_of(storage.buildah(&["from", "--pull-never", IMAGE]))?;
    audited(&storage, &container)?;
    served(&storage, &container)
}

/// The name that the base image gets here.
const BASE: &str = "localhost/base:proof";

fn valid() -> Result<()> {
    let validator = venv::program(VALIDATOR, "kubernetes-validate")?;
    for version in KUBERNETES {
        let options = ["--strict", "--quiet", "-k", version, MANIFEST];
        run(program(&validator, &options)).context(MANIFEST)?;
    }
    println!("{MANIFEST}: valid for Kubernetes {}", KUBERNETES.join(" and "));
    Ok(())
}

/// The command that the image has by default, as the user that it has.
fn audited(storage: &Storage, container: &str) -> Result<()> {
    let options = ["run", "--isolation", "chroot", "--volume", "/:/host:ro", container, "--"];
    let command = ["fullclock", "audit", "--root", "/host"];
    let audit = text_of(storage.buildah(&[&options[..], &command].concat()))?;
    ensure!(audit.contains("fullclock audit of /host"), "{audit}");
    println!("image: audits a host that is mounted, without root");
    Ok(())
}

/// What the manifest says, as a pod would run it: its user, capabilities, volumes and arguments.
fn served(storage: &Storage, container: &str) -> Result<()> {
    let manifest = fs::read_to_string(workspace().join(MANIFEST))?;
    let value = |key: &str| -> Result<String> {
        let found = manifest.lines().find_map(|line| line.split_once(&format!("{key}: ")));
        let (_, value) = found.with_context(|| format!("{MANIFEST} has no {key}"))?;
        Ok(value.trim_matches(['[', ']', '{', '}']).replace('"', ""))
    };
    let free = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 7077)));
    drop(free.context("the port of the manifest is in use here")?);
    let mode = manifest.split_once("defaultMode: ").and_then(|(_, it)| it.get(..4));
    let mode = u32::from_str_radix(mode.context("the secret has no mode")?, 8)?;
    let (token, state) = storage.volumes(mode)?;
    let arguments = value("args")?;
    let user = value("runAsUser")?;
    let mut options = vec!["run", "--isolation", "chroot", "--cap-add", "CAP_PERFMON"];
    options.extend(["--user", &user, "--volume", &token, "--volume", &state, container, "--"]);
    // buildah drops either all capabilities or those that are named.
    options.extend(["setpriv", "--bounding-set=-all,+perfmon", "--no-new-privs", "fullclock"]);
    options.extend(arguments.split(", "));
    let mut server = Server(storage.buildah(&options).spawn()?);
    let metrics = metrics(&mut server.0)?;
    ensure!(metrics.contains("fullclock_build_info"), "{metrics}");
    println!("manifest: served {} lines of metrics", metrics.lines().count());
    Ok(())
}

/// What the server answers to who shows the token, and that it refuses others.
fn metrics(server: &mut Child) -> Result<String> {
    let began = Instant::now();
    let address = format!("http://127.0.0.1:{PORT}/metrics");
    let ask = |more: &[&str]| program("curl", &[&["--silent", "--fail", &address], more].concat());
    let header = format!("Authorization: Bearer {TOKEN}");
    loop {
        let asked = ask(&["--header", &header]).output()?;
        if asked.status.success() {
            ensure!(!ask(&[]).output()?.status.success(), "metrics are shown without the token");
            return Ok(String::from_utf8(asked.stdout)?);
        }
        if let Some(status) = server.try_wait()? {
            bail!("the server of the manifest ended with {status}");
        }
        ensure!(began.elapsed() < PATIENCE, "the server of the manifest does not answer");
        thread::sleep(Duration::from_millis(200));
    }
}

const TOKEN: &str = "a-token-of-a-cluster";

/// A server that ends with this.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // buildah passes it on to what it runs.
        let ended = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(ended, rustix::process::Signal::TERM).ok();
        self.0.wait().ok();
    }
}

/// buildah's images and containers, in a folder of their own that is removed with this.
struct Storage(PathBuf);

impl Storage {
    fn empty() -> Result<Storage> {
        let folder = target().join("package-proof/container");
        empty(&folder)?;
        Ok(Storage(folder))
    }

    fn buildah(&self, arguments: &[&str]) -> Command {
        let mut command = program("buildah", &["--storage-driver", "vfs", "--root"]);
        command.arg(self.0.join("root")).arg("--runroot").arg(self.0.join("run"));
        command.args(arguments);
        command
    }

    /// Makes the base image of a root folder.
    fn import(&self, root: &Path) -> Result<()> {
        let container = text_of(self.buildah(&["from", "scratch"]))?;
        let to = text_of(self.buildah(&["mount", &container]))?;
        let options = ["--archive", "--one-file-system", "--no-target-directory"];
        run(program("cp", &[&options[..], &[path(root)?, &to]].concat()))?;
        text_of(self.buildah(&["commit", "--quiet", "--rm", &container, BASE]))?;
        Ok(())
    }

    /// The volumes of the manifest, as the kubelet makes them: a secret behind two links in a folder that everyone may write, and an
    /// empty folder that everyone may write.
    fn volumes(&self, mode: u32) -> Result<(String, String)> {
        let [token, state] = ["token", "state"].map(|it| self.0.join(it));
        let now = token.join("..2026_11_27");
        fs::create_dir_all(&now)?;
        fs::create_dir_all(&state)?;
        fs::write(now.join("token"), TOKEN)?;
        fs::set_permissions(now.join("token"), Permissions::from_mode(mode))?;
        symlink("..2026_11_27", token.join("..data"))?;
        symlink("..data/token", token.join("token"))?;
        fs::set_permissions(&token, Permissions::from_mode(0o1777))?;
        fs::set_permissions(&state, Permissions::from_mode(0o777))?;
        Ok((format!("{}:/token:ro", path(&token)?), format!("{}:/state", path(&state)?)))
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        for all in [&["rm", "--all"][..], &["rmi", "--all", "--force"]] {
            self.buildah(all).output().ok();
        }
        if let Err(error) = fs::remove_dir_all(&self.0) {
            println!("{} stays: {error}", self.0.display());
        }
    }
}
