"""Makes certificates for servers that tests start, signed by an authority that only these tests know."""

import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


class Authority:
    """An authority that signs certificates, with its files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = self._signed("an authority of the tests", self._key.public_key(), is_authority=True)
        self.file = folder / "authority.pem"
        """The file that ``SSL_CERT_FILE`` has to name, so that clients trust the certificates."""
        self.file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def certificate(self, file_name: str, *hosts: str, days: int = 1) -> Path:
        """Make a file with a private key and its certificate.

        :param hosts: names and addresses; 127.0.0.1 by default.
        :param days: how many days the certificate is valid; a negative number makes one that expired so many days ago.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed("a server of the tests", key.public_key(), hosts or ("127.0.0.1",), days)
        file = self._folder / file_name
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        return file

    def _signed(
        self,
        name: str,
        key: ec.EllipticCurvePublicKey,
        hosts: Sequence[str] = (),
        days: int = 1,
        *,
        is_authority: bool = False,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        own = self._key.public_key()
        builder = (
            x509.CertificateBuilder()
            .subject_name(_named(name))
            .issuer_name(_named("an authority of the tests"))
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + min(days, 0) * _DAY - _DAY)
            .not_valid_after(now + days * _DAY)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(own), critical=False)
        )
        if is_authority:
            usage = x509.KeyUsage(
                digital_signature=True,
                key_cert_sign=True,
                crl_sign=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            )
            builder = builder.add_extension(usage, critical=True)
        else:
            names = [_general_name(host) for host in hosts]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
