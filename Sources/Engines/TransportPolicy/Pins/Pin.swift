// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import LinuxSystem

/// A pinned public key: the SHA-256 of a certificate's SubjectPublicKeyInfo in DER (RFC 7469,
/// section 2.4).
///
/// A key's pin stays the same when its certificate is renewed.
public struct Pin: Hashable, Sendable {
    /// 32 bytes.
    public let hash: [UInt8]

    /// The pin of a certificate's key.
    public init(_ certificate: Certificate) { hash = certificate.publicKey.sha256 }

    /// The pin with this hash; nil if it does not have 32 bytes.
    public init?(hash: [UInt8]) {
        guard hash.count == Self.length else { return nil }
        self.hash = hash
    }

    /// Parses `sha256/BASE64`, curl's `sha256//BASE64`, or only the base64, as in property lists.
    ///
    /// - Throws: if the text is not a SHA-256, with the kind of text that it seems to be.
    public init(_ text: String) throws(TransportPolicyError) {
        guard text.utf8.count <= Self.maxText else {
            throw TransportPolicyError("a pin has 44 characters of base64, found \(text.utf8.count) characters")
        }
        // Base64 can begin with a slash: the length tells whether a slash is part of the prefix.
        var digits = text
        for prefix in Self.prefixes where text.hasPrefix(prefix) {
            digits = String(text.dropFirst(prefix.count))
            guard let bytes = Self.exact(digits) else { continue }
            hash = bytes
            return
        }
        if digits == text, let found = Self.digest(named: text) {
            throw TransportPolicyError("expected a SHA-256 pin, found \(found.quoted)", hint: Self.command)
        }
        throw Self.error(digits)
    }

    /// Parses a list of pins, separated by `;`, as for curl's option `--pinnedpubkey`.
    public static func list(_ text: String) throws(TransportPolicyError) -> [Pin] {
        guard text.utf8.count <= maxText * PinRequirement.maxPins else {
            throw TransportPolicyError("more than \(PinRequirement.maxPins) pins")
        }
        var pins: [Pin] = []
        for part in text.split(separator: ";", omittingEmptySubsequences: false) { pins.append(try Pin(String(part))) }
        return pins
    }

    /// Each is a prefix of those that follow.
    private static let prefixes = ["", "sha256/", "sha256//"]
    private static let maxText = 100
    private static let length = 32
    private static let command =
        "openssl x509 -in CERTIFICATE -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64"

    /// Decodes the one form of base64 that encodes 32 bytes: padded, without white space, and with
    /// zero bits before the padding.
    private static func exact(_ digits: String) -> [UInt8]? {
        Base64.bytes(digits.utf8).flatMap { $0.count == length ? $0 : nil }
    }

    /// The name of a digest before a slash or a colon.
    private static func digest(named text: String) -> String? {
        let name = text.prefix { $0 != "/" && $0 != ":" }
        guard name.count < text.count else { return nil }
        let plain = name.lowercased().filter { $0 != "-" && $0 != "_" }
        let known = ["md5", "sha1", "sha", "sha224", "sha256", "sha384", "sha512", "sha3256", "sha3512", "pinsha256"]
        return known.contains(plain) ? String(name) : nil
    }

    /// Returns the error for a text that is not a pin.
    private static func error(_ text: String) -> TransportPolicyError {
        let isHexadecimal = text.utf8.count >= 40 && text.allSatisfy { $0 == ":" || $0.isHexDigit && $0.isASCII }
        if isHexadecimal {
            return TransportPolicyError("expected base64, found a hash in hexadecimal: \(text.quoted)", hint: command)
        }
        if exact(text + "=") != nil {
            return TransportPolicyError("the base64 of a pin ends with =, found \(text.quoted)")
        }
        if let data = Base64.bytes(text.utf8), !text.isEmpty, data.count != length {
            return TransportPolicyError(
                "a pin is a SHA-256 of \(length) bytes, found \(data.count) bytes", hint: command)
        }
        return TransportPolicyError("a pin is sha256/ and 44 characters of base64, found \(text.quoted)", hint: command)
    }
}

// MARK: CustomStringConvertible

extension Pin: CustomStringConvertible {
    /// `sha256/BASE64`.
    public var description: String { "sha256/\(base64)" }

    /// The form of property lists.
    public var base64: String { Base64.text(hash) }
}
