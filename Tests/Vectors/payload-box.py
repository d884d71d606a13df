#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A second implementation of Documentation/Formats/payload-box.md, for P-256 and X25519, over pyca/cryptography. It
# writes the vectors of PayloadBoxTests: ./payload-box.py > payload-box.json
import hashlib, hmac, json
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CHUNK = 65536


def extract(suite, label, salt, ikm):
    return hmac.new(salt or b"\0" * 32, b"HPKE-v1" + suite + label + ikm, hashlib.sha256).digest()


def expand(suite, prk, label, info, length):
    labeled = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.new(prk, labeled + b"\1", hashlib.sha256).digest()[:length]


class P256:
    identifier = 0x0010

    def __init__(self, seed):
        self.number = int.from_bytes(hashlib.sha256(seed).digest(), "big") % (2**255) + 1
        self.key = ec.derive_private_key(self.number, ec.SECP256R1())

    def public(self):
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def private(self):
        return self.public() + self.number.to_bytes(32, "big")

    def agree(self, other):
        return self.key.exchange(ec.ECDH(), other.key.public_key())


class X25519:
    identifier = 0x0020

    def __init__(self, seed):
        self.bytes = hashlib.sha256(seed).digest()
        self.key = x25519.X25519PrivateKey.from_private_bytes(self.bytes)

    def public(self):
        return self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def private(self):
        return self.bytes

    def agree(self, other):
        return self.key.exchange(other.key.public_key())


def seal(kind, payload, recipient, sender, context, data):
    identifier = kind.identifier.to_bytes(2, "big")
    ephemeral = kind(b"ephemeral" + payload)
    header = b"LKPAYBOX" + bytes([1, 2 if sender else 0]) + identifier
    agreed, encapsulated = ephemeral.agree(recipient), ephemeral.public()
    parties = encapsulated + recipient.public()
    if sender:
        agreed += sender.agree(recipient)
        parties += sender.public()
    kem = b"KEM" + identifier
    shared = expand(kem, extract(kem, b"eae_prk", b"", agreed), b"shared_secret", parties, 32)
    suite = b"HPKE" + identifier + bytes([0, 1, 0, 2])
    schedule = (
        header[9:10]
        + extract(suite, b"psk_id_hash", b"", b"")
        + extract(suite, b"info_hash", b"", b"latchkey v1 payload box" + header + context)
    )
    secret = extract(suite, b"secret", shared, b"")
    key = expand(suite, secret, b"key", schedule, 32)
    base = int.from_bytes(expand(suite, secret, b"base_nonce", schedule, 12), "big")
    chunks = [payload[i : i + CHUNK] for i in range(0, len(payload), CHUNK)] or [b""]
    box = header + encapsulated
    for number, chunk in enumerate(chunks):
        additional = bytes([number == len(chunks) - 1]) + hashlib.sha256(data).digest()
        box += AESGCM(key).encrypt((base ^ number).to_bytes(12, "big"), chunk, additional)
    return box


vectors = []
for kind in (P256, X25519):
    recipient, sender = kind(b"recipient"), kind(b"sender")
    for count in (0, 1, CHUNK, CHUNK + 1, 3 * CHUNK):
        for origin in (None, sender):
            payload = bytes(i * 31 % 251 for i in range(count))
            context, data = b"vectors %d" % count, b"" if count == 0 else b"additional"
            box = seal(kind, payload, recipient, origin, context, data)
            vectors.append(
                {
                    "suite": kind.__name__.lower(),
                    "recipient": recipient.private().hex(),
                    "sender": origin.private().hex() if origin else None,
                    "context": context.hex(),
                    "data": data.hex(),
                    "count": count,
                    # A long box is compared by its digest; its payload is byte i = 31 i mod 251.
                    "box": box.hex() if count <= 1 else None,
                    "head": box[: 12 + len(recipient.public())].hex(),
                    "digest": hashlib.sha256(box).hexdigest(),
                    "ephemeral": kind(b"ephemeral" + payload).private().hex(),
                }
            )
print(json.dumps({"vectors": vectors}, indent=1))
