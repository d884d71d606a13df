// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// An OpenSSH public key (RFC 4253, section 6.6; RFC 5656, section 3.1): one line of a name, base64
/// and a comment.
enum OpenSSHPublicKey {
    /// Returns the keys of a file, one a line; nil if it does not begin with a known name. Empty lines and
    /// comments after `#` are skipped.
    ///
    /// - Throws: errSecParam if another line is not a key, with its number; errSecUnimplemented for
    ///   unsupported kinds.
    static func all(in bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [PublicKey]? {
        var keys: [PublicKey] = []
        // A byte order mark is skipped, as in PEM.
        var rest = bytes.drop(while: byteOrderMark.contains)
        var number = 1
        while !rest.isEmpty {
            let line = rest.prefix { !isLineEnd($0) }
            let text = line.drop(while: isSpace)
            if !text.isEmpty, text.first != UInt8(ascii: "#") {
                if let key = try key(line: text) {
                    keys.append(key)
                } else if keys.isEmpty {
                    return nil
                } else {
                    throw .parameter("line \(number) of the file is not an OpenSSH public key")
                }
            }
            let end = rest[line.endIndex...]
            rest = end.dropFirst(end.starts(with: "\r\n".utf8) ? 2 : 1)
            number += 1
        }
        return keys.isEmpty ? nil : keys
    }

    /// Reads the line of a public key; nil if it does not begin with a known name.
    private static func key(line: Slice<UnsafeRawBufferPointer>) throws(KeychainError) -> PublicKey? {
        let words = line.split(maxSplits: 2, whereSeparator: isSpace)
        let names = Array(supportedNames) + otherNames.keys
        guard words.count >= 2, let name = names.first(where: { words[0].elementsEqual($0.utf8) }) else { return nil }
        guard let blob = SharedSecret.ofBase64(UnsafeRawBufferPointer(rebasing: words[1])) else {
            throw SSHReader.malformed
        }
        return try blob.withUnsafeBytes { (bytes) throws(KeychainError) in
            let key = try key(bytes)
            guard OpenSSHPublicKey.name(of: key) == name else { throw SSHReader.malformed }
            return key
        }
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// UTF-8 of the mark; no line of a key starts with one of its bytes.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the key of a blob.
    static func key(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> PublicKey {
        let name = try type(of: bytes)
        var reader = SSHReader(bytes)
        _ = try reader.name()
        let key: PublicKey
        if name == "ssh-rsa" {
            let (exponent, modulus) = (try reader.integer(), try reader.integer())
            let der = SharedSecret(DERNumbers.encoded([modulus, exponent]))
            key = try der.withUnsafeBytes { (der) throws(KeychainError) in try PublicKey(external: der, type: .rsa) }
        } else {
            guard let curve = curve(of: name), try reader.name() == curveName(curve) else { throw SSHReader.malformed }
            let point = try reader.string()
            guard point.count == 1 + 2 * curve.byteCount, point.first == 4 else { throw SSHReader.malformed }
            key = try PublicKey(curve, point: point)
        }
        guard reader.remaining.isEmpty else { throw SSHReader.malformed }
        return key
    }

    /// Returns the name of the type of a blob.
    ///
    /// - Throws: errSecUnimplemented for a type that is not supported, with its name.
    static func type(of blob: UnsafeRawBufferPointer) throws(KeychainError) -> String {
        var reader = SSHReader(blob)
        let name = try reader.name()
        guard !supportedNames.contains(name) else { return name }
        // A name that is not known may be anything, and is not repeated.
        throw .unsupportedKey(
            otherNames[name].map { "\($0) (\(name))" } ?? "that the file names", hint: "ssh-keygen -t ecdsa -f NEW")
    }

    static func blob(_ key: PublicKey) throws(KeychainError) -> SSHWriter {
        guard let name = name(of: key) else {
            throw KeychainError(.unimplemented, "OpenSSH does not support keys of the kind \(key.kind)")
        }
        var writer = SSHWriter()
        writer.write(string: name.utf8)
        if let curve = key.curve {
            writer.write(string: curveName(curve).utf8)
            writer.write(string: key.external)
        } else {
            let (modulus, exponent) = try crypto { () throws(OpenSSLError) in try key.key.publicRSANumbers() }
            writer.write(integer: SharedSecret(copying: exponent))
            writer.write(integer: SharedSecret(copying: modulus))
        }
        return writer
    }

    static func line(_ key: PublicKey) throws(KeychainError) -> String {
        let encoded = try blob(key).bytes().base64.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return "\(name(of: key) ?? "") \(encoded)\n"
    }

    static func name(of key: PublicKey) -> String? {
        guard let curve = key.curve else { return "ssh-rsa" }
        return [.p256, .p384, .p521].contains(curve) ? "ecdsa-sha2-\(curveName(curve))" : nil
    }

    static func curve(of name: String) -> EllipticCurve? {
        [EllipticCurve.p256, .p384, .p521].first { "ecdsa-sha2-\(curveName($0))" == name }
    }

    static func curveName(_ curve: EllipticCurve) -> String { "nistp\(curve.rawValue)" }

    private static let supportedNames: Set<String> = [
        "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    ]
    /// The other types of ssh-keygen, with words for them.
    private static let otherNames = [
        "ssh-ed25519": "Ed25519", "ssh-dss": "DSA",
        "sk-ecdsa-sha2-nistp256@openssh.com": "ECDSA on a security key",
        "sk-ssh-ed25519@openssh.com": "Ed25519 on a security key",
    ]
}
