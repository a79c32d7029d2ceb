//! TLS under the HTTP client: whom to trust, and the connection itself.
//!
//! The library's own TLS can trust authorities only. Management controllers have certificates that they made themselves: these are
//! recognised by their fingerprint.

use super::failure::Problem;
use host::trusted_file;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, OtherError,
    RootCertStore, SignatureScheme, StreamOwned,
};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
    TransportAdapter,
};

/// Whose certificates are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those of the authorities that this machine trusts: the files of its distribution, or what `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
    System,
    /// Those of the authorities in this PEM file, and no others.
    Authorities(PathBuf),
    /// The one certificate that has this fingerprint, whoever issued it, for whatever name and time.
    Pinned(Fingerprint),
}

impl Trust {
    /// What a user gives: the fingerprint of one certificate, or else a file of authorities, or else nothing.
    pub fn given(fingerprint: Option<Fingerprint>, authorities: Option<&Path>) -> Trust {
        match (fingerprint, authorities) {
            (Some(fingerprint), _) => Trust::Pinned(fingerprint),
            (None, Some(path)) => Trust::Authorities(path.to_owned()),
            (None, None) => Trust::System,
        }
    }
}

/// The SHA-256 of a certificate (DER).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// That of no certificate.
    pub const NONE: Fingerprint = Fingerprint([0; 32]);

    /// Parses 64 hexadecimal digits, with or without colons, as `openssl x509 -fingerprint -sha256` prints them.
    pub fn parse(text: &str) -> Option<Fingerprint> {
        let digits: Vec<u8> = text.trim().bytes().filter(|it| *it != b':').collect();
        let mut bytes = [0; 32];
        let (pairs, rest) = digits.as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            let [high, low] = pair.map(|it| char::from(it).to_digit(16));
            *byte = u8::try_from(high? * 16 + low?).ok()?;
        }
        Some(Fingerprint(bytes))
    }

    fn of(certificate: &CertificateDer<'_>) -> Fingerprint {
        Fingerprint(Sha256::digest(certificate.as_ref()).into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.0.iter().map(|it| format!("{it:02X}")).collect();
        f.write_str(&pairs.join(":"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The largest file of authorities; that of Debian has 220 KiB.
const LARGEST: usize = 4 << 20;

/// How to make connections that trust these.
pub(super) fn config(trust: &Trust) -> Result<Arc<ClientConfig>, Problem> {
    let provider = Arc::new(ring::default_provider());
    let failed = |error: rustls::Error| Problem::Certificates { why: error.to_string() };
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::System => of_authorities(system()?, provider)?,
        Trust::Authorities(path) => of_authorities(in_file(path)?, provider)?,
        Trust::Pinned(fingerprint) => Arc::new(Pinned { fingerprint: *fingerprint, provider }),
    };
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    Ok(Arc::new(builder.with_no_client_auth()))
}

fn of_authorities(
    roots: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Problem> {
    let mut store = RootCertStore::empty();
    // Of old authorities, some have a form that nothing accepts any more.
    store.add_parsable_certificates(roots);
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider).build();
    Ok(verifier.map_err(|error| Problem::Certificates { why: error.to_string() })?)
}

fn system() -> Result<Vec<CertificateDer<'static>>, Problem> {
    let found = rustls_native_certs::load_native_certs();
    if !found.certs.is_empty() {
        return Ok(found.certs);
    }
    let first = found.errors.first().map(|it| format!(" ({it})")).unwrap_or_default();
    let why = format!(
        "this machine has no certificates of authorities{first}: install the package ca-certificates, or give one with --ca FILE"
    );
    Err(Problem::Certificates { why })
}

/// The file decides whose answers are believed, so it is trusted as what root obeys is.
fn in_file(path: &Path) -> Result<Vec<CertificateDer<'static>>, Problem> {
    let failed = |why: String| Problem::Certificates { why };
    let named = |why: &str| failed(format!("--ca {}: {why}", path.display()));
    let bytes = trusted_file::read(path, LARGEST).map_err(|error| failed(error.to_string()))?;
    let bytes = bytes.ok_or_else(|| named("there is no such file"))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(named("it holds no certificate: expected -----BEGIN CERTIFICATE-----")),
        Err(error) => Err(named(&error.to_string())),
    }
}

/// Believes one certificate.
#[derive(Debug)]
struct Pinned {
    fingerprint: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = Fingerprint::of(end_entity);
        if found == self.fingerprint {
            return Ok(ServerCertVerified::assertion());
        }
        let why = std::io::Error::other(format!("its fingerprint is {found}"));
        Err(CertificateError::Other(OtherError(Arc::new(why))).into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Puts TLS on the connections of https.
pub(super) struct Tls {
    config: Option<Arc<ClientConfig>>,
}

impl Tls {
    /// `None` where nothing is encrypted.
    pub(super) fn new(config: Option<Arc<ClientConfig>>) -> Tls {
        Tls { config }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl<In: Transport> Connector<In> for Tls {
    type Out = Either<In, Encrypted>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(transport) = chained else { return Ok(None) };
        let Some(config) = self.config.as_ref().filter(|_| details.needs_tls()) else {
            return Ok(Some(Either::A(transport)));
        };
        let host = details.uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| ureq::Error::Tls("the host is neither a name nor an address"))?;
        let connection = ClientConnection::new(Arc::clone(config), name);
        let mut connection = connection.map_err(std::io::Error::other)?;
        let clock = Arc::clone(&details.current_time);
        let mut socket = TransportAdapter::new(transport.boxed(), clock);
        socket.set_timeout(details.timeout);
        connection.complete_io(&mut socket)?;
        let (input, output) =
            (details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(Encrypted {
            buffers: LazyBuffers::new(input, output),
            stream: StreamOwned::new(connection, socket),
        })))
    }
}

/// An encrypted connection.
pub(super) struct Encrypted {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted").finish_non_exhaustive()
    }
}

impl Transport for Encrypted {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.sock.set_timeout(timeout);
        self.stream.write_all(&self.buffers.output()[..amount])?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.sock.set_timeout(timeout);
        let n_read = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(n_read);
        Ok(n_read > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.sock.get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_64_digits_with_or_without_colons() {
        let plain = "ab".repeat(32);
        let fingerprint = Fingerprint::parse(&plain).unwrap();
        assert_eq!(Fingerprint::parse(&fingerprint.to_string()), Some(fingerprint));
        assert!(fingerprint.to_string().starts_with("AB:AB:"));
        for wrong in ["", "ab", &plain[1..], &format!("{plain}0"), &"zz".repeat(32)] {
            assert_eq!(Fingerprint::parse(wrong), None, "{wrong}");
        }
    }
}
