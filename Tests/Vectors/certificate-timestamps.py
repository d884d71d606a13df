#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Certificates with embedded timestamps of logs (RFC 6962), made with pyca/cryptography, which also says what the
# precertificate is. It writes the vectors of TransparencyTests: ./certificate-timestamps.py > certificate-timestamps.json
# The keys are new each time.
import base64, datetime, hashlib, json
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID

LIST = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
UTC = datetime.timezone.utc


def milliseconds(month, day=1, year=2026):
    return int(datetime.datetime(year, month, day, tzinfo=UTC).timestamp() * 1000)


def vector(count, data):
    return len(data).to_bytes(count, "big") + data


def der(tag, data):
    length = len(data)
    digits = b"" if length < 128 else length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag]) + (bytes([length]) if not digits else bytes([0x80 | len(digits)]) + digits) + data


class Log:
    def __init__(self, name, operator, state="usable", kind="ecdsa", interval=None, time="2025-01-01T00:00:00Z"):
        self.name, self.operator, self.state, self.interval, self.time = name, operator, state, interval, time
        self.key = ec.generate_private_key(ec.SECP256R1()) if kind == "ecdsa" else rsa.generate_private_key(65537, 2048)
        self.spki = self.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.identifier = hashlib.sha256(self.spki).digest()

    def entry(self):
        entry = {
            "description": self.name,
            "log_id": base64.b64encode(self.identifier).decode(),
            "key": base64.b64encode(self.spki).decode(),
            "url": "https://%s.example/" % self.name,
            "mmd": 86400,
            "state": {self.state: {"timestamp": self.time}},
        }
        if self.interval:
            entry["temporal_interval"] = {"start_inclusive": self.interval[0], "end_exclusive": self.interval[1]}
        return entry

    def timestamp(self, tbs, issuer, at, extensions=b"", key=None, algorithm=None):
        key = key or self.key
        body = at.to_bytes(8, "big")
        signed = b"\0\0" + body + b"\0\1" + issuer + vector(3, tbs) + vector(2, extensions)
        if isinstance(key, rsa.RSAPrivateKey):
            kind, signature = b"\4\1", key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
        else:
            kind, signature = b"\4\3", key.sign(signed, ec.ECDSA(hashes.SHA256()))
        return b"\0" + self.identifier + body + vector(2, extensions) + (algorithm or kind) + vector(2, signature)


NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "example.com")])
ROOT = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "root of the timestamps")])
root_key = ec.generate_private_key(ec.SECP256R1())
root = (
    x509.CertificateBuilder()
    .subject_name(ROOT)
    .issuer_name(ROOT)
    .public_key(root_key.public_key())
    .serial_number(1)
    .not_valid_before(datetime.datetime(2025, 1, 1))
    .not_valid_after(datetime.datetime(2045, 1, 1))
    .add_extension(x509.BasicConstraints(True, None), True)
    .add_extension(x509.SubjectKeyIdentifier.from_public_key(root_key.public_key()), False)
    .sign(root_key, hashes.SHA256())
)
ISSUER = hashlib.sha256(
    root_key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
).digest()
leaf_key = ec.generate_private_key(ec.SECP256R1())


def leaf(serial, entries, place):
    builder = (
        x509.CertificateBuilder()
        .subject_name(NAME)
        .issuer_name(ROOT)
        .public_key(leaf_key.public_key())
        .serial_number(serial)
        .not_valid_before(datetime.datetime(2026, 1, 1))
        .not_valid_after(datetime.datetime(2026, 12, 1))
    )
    extensions = [
        (x509.SubjectAlternativeName([x509.DNSName("example.com")]), False),
        (x509.ExtendedKeyUsage([x509.ObjectIdentifier("1.3.6.1.5.5.7.3.1")]), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), False),
    ]
    if place == "only":
        extensions = []
    if entries is not None:
        value = der(4, vector(2, b"".join(vector(2, entry) for entry in entries)))
        index = {"first": 0, "middle": 1, "last": 3, "only": 0}[place]
        extensions.insert(index, (x509.UnrecognizedExtension(LIST, value), False))
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(root_key, hashes.SHA256())


alder = Log("alder", "Operator One")
birch = Log("birch", "Operator Two", kind="rsa")
cedar = Log("cedar", "Operator One", state="qualified")
retired = Log("retired", "Operator Two", state="retired", time="2026-03-01T00:00:00Z")
past = Log("past", "Operator Two", interval=("2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"))
present = Log("present", "Operator Two", state="readonly", interval=("2026-06-01T00:00:00Z", "2027-01-01T00:00:00Z"))
pending = Log("pending", "Operator Two", state="pending")
stranger = Log("stranger", "Operator Two")
february, april, future = milliseconds(2), milliseconds(4), milliseconds(11)
serials = iter(range(100, 200))


def case(name, entries, logs, satisfied, place="middle"):
    """entries: functions of the signed bytes of the precertificate; logs: the names that count."""
    serial = next(serials)
    plain = leaf(serial, None, place)
    tbs = plain.tbs_certificate_bytes
    made = None if entries is None else [entry(tbs) for entry in entries]
    final = leaf(serial, made, place)
    # Without other extensions, pyca keeps an empty list, which RFC 5280 forbids.
    if made is not None and place != "only":
        assert final.tbs_precertificate_bytes == tbs
    return {
        "name": name,
        "certificate": base64.b64encode(final.public_bytes(Encoding.DER)).decode(),
        "precertificate": base64.b64encode(tbs).decode(),
        "logs": logs,
        "satisfied": satisfied,
    }


def by(log, at=february, **more):
    return lambda tbs: log.timestamp(tbs, ISSUER, at, **more)


other = leaf(99, None, "middle").tbs_certificate_bytes
key = ec.generate_private_key(ec.SECP256R1())
a, b = by(alder), by(birch)
cases = [
    case("two operators", [a, b], ["alder", "birch"], True),
    case("at the start of the extensions", [a, b], ["alder", "birch"], True, "first"),
    case("at the end of the extensions", [b, a], ["birch", "alder"], True, "last"),
    case("the only extension", [a, b], ["alder", "birch"], True, "only"),
    case("three logs", [a, by(cedar), b], ["alder", "cedar", "birch"], True),
    case("extensions of a timestamp", [by(alder, extensions=b"\1\2\3"), b], ["alder", "birch"], True),
    case("another version beside two", [a, lambda _: b"\1" + bytes(60), b], ["alder", "birch"], True),
    case("before the retirement of a log", [a, by(retired)], ["alder", "retired"], True),
    case("a log for this expiration", [a, by(present)], ["alder", "present"], True),
    case("none", None, [], False),
    case("one log", [a], ["alder"], False),
    case("one log twice", [a, by(alder, april)], ["alder"], False),
    case("two logs of one operator", [a, by(cedar)], ["alder", "cedar"], False),
    case("after the retirement of a log", [a, by(retired, april)], ["alder"], False),
    case("a log for other expirations", [a, by(past)], ["alder"], False),
    case("a pending log", [a, by(pending)], ["alder"], False),
    case("an unknown log", [a, by(stranger)], ["alder"], False),
    case("the future", [a, by(birch, future)], ["alder"], False),
    case("another key", [by(alder, key=key), b], ["birch"], False),
    case("another certificate", [lambda _: alder.timestamp(other, ISSUER, february), b], ["birch"], False),
    case("another issuer", [lambda tbs: alder.timestamp(tbs, bytes(32), february), b], ["birch"], False),
    case("another algorithm", [by(alder, algorithm=b"\2\3"), b], ["birch"], False),
    case("no hash", [by(alder, algorithm=b"\0\3"), b], ["birch"], False),
    case("only another version", [lambda _: b"\1" + bytes(60)], [], False),
]
operators = {}
for log in [alder, birch, cedar, retired, past, present, pending]:
    operators.setdefault(log.operator, []).append(log.entry())
print(
    json.dumps(
        {
            "root": base64.b64encode(root.public_bytes(Encoding.DER)).decode(),
            "list": {
                "version": "1.0",
                "log_list_timestamp": "2026-05-01T00:00:00Z",
                "operators": [
                    {"name": name, "email": ["logs@example.com"], "logs": logs[:2], "tiled_logs": logs[2:]}
                    for name, logs in operators.items()
                ],
            },
            "cases": cases,
        },
        indent=1,
    )
)
