// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Latchkey

/// The same key as a credential of WebAuthn Level 2, for servers that have a library for it.
///
/// This shows the format. A browser checks the origin of a request, and a certified authenticator the presence of a
/// person; neither is done here.
extension SignInClient {
    /// A registration: client data and attestation object (WebAuthn, sections 5.8.1 and 6.5).
    public func registration(challenge: Data, site: Site) -> (clientData: Data, attestationObject: Data) {
        var data = authenticatorData(site, flags: [.present, .hasCredential])
        // No AAGUID; the credential's identifier and its public key.
        data += Data(repeating: 0, count: 16) + UInt16(credential.count).bigEndianBytes + credential + coseKey
        let object =
            CBOR.map(3) + CBOR.text("fmt") + CBOR.text("none") + CBOR.text("attStmt") + CBOR.map(0)
            + CBOR.text("authData") + CBOR.bytes(data)
        return (site.clientData("webauthn.create", challenge), object)
    }

    /// An assertion: client data, authenticator data and signature (WebAuthn, section 6.3.3).
    public func assertion(
        challenge: Data, site: Site
    ) throws -> (clientData: Data, authenticatorData: Data, signature: Data) {
        let clientData = site.clientData("webauthn.get", challenge)
        let data = authenticatorData(site, flags: .present)
        let signature = try sign(data + Data(SHA256.hash(data: clientData)))
        return (clientData, data, signature)
    }

    /// The identifier of the credential: the digest of the public key.
    public var credential: Data { Data(SHA256.hash(data: publicKey)) }

    private func authenticatorData(_ site: Site, flags: AuthenticatorFlags) -> Data {
        // The counter of signatures stays 0: the key has none.
        Data(SHA256.hash(data: Data(site.identifier.utf8))) + Data([flags.rawValue]) + UInt32(0).bigEndianBytes
    }

    /// COSE_Key of an EC2 key for ES256 (RFC 9053, sections 2.1 and 7.1).
    private var coseKey: Data {
        let point = publicKey.dropFirst()
        return CBOR.map(5) + CBOR.number(1) + CBOR.number(2) + CBOR.number(3) + CBOR.number(-7) + CBOR.number(-1)
            + CBOR.number(1) + CBOR.number(-2) + CBOR.bytes(point.prefix(32)) + CBOR.number(-3)
            + CBOR.bytes(point.suffix(32))
    }
}

/// A site of the web.
public struct Site: Sendable {
    /// The relying party's identifier: a domain.
    public let identifier: String
    public let origin: String

    public init(identifier: String, origin: String) { (self.identifier, self.origin) = (identifier, origin) }

    fileprivate func clientData(_ type: String, _ challenge: Data) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let values = ["type": type, "challenge": challenge.base64URL, "origin": origin]
        return (try? encoder.encode(values)) ?? Data()
    }
}

private struct AuthenticatorFlags: OptionSet {
    let rawValue: UInt8
    static let present = Self(rawValue: 1)
    static let hasCredential = Self(rawValue: 1 << 6)
}

/// The items of CBOR (RFC 8949) that the messages need.
private enum CBOR {
    static func map(_ count: Int) -> Data { head(5, count) }
    static func text(_ text: String) -> Data { head(3, text.utf8.count) + Data(text.utf8) }
    static func bytes(_ bytes: some Collection<UInt8>) -> Data { head(2, bytes.count) + Data(bytes) }
    static func number(_ number: Int) -> Data { number < 0 ? head(1, -1 - number) : head(0, number) }

    private static func head(_ type: UInt8, _ value: Int) -> Data {
        switch value {
        case 0..<24: Data([type << 5 | UInt8(value)])
        case 24..<256: Data([type << 5 | 24, UInt8(value)])
        default: Data([type << 5 | 25]) + UInt16(clamping: value).bigEndianBytes
        }
    }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: Data { withUnsafeBytes(of: bigEndian) { Data($0) } }
}

extension Data {
    /// Without padding (RFC 4648, section 5).
    public var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    public init?(base64URL text: String) {
        let padded = text.replacing("-", with: "+").replacing("_", with: "/")
        self.init(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4))
    }
}
