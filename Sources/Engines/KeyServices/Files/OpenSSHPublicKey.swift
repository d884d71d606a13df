// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// An OpenSSH public key (RFC 4253, section 6.6; RFC 5656, section 3.1): one line of a name, base64
/// and a comment.
enum OpenSSHPublicKey {
    /// Reads the line of a public key; returns nil if it does not begin with a known name.
    static func read(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> PublicKey? {
        // A byte order mark is skipped, as in PEM.
        let line = bytes.drop(while: byteOrderMark.contains).prefix { $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, let name = words.first.map({ String(decoding: $0, as: UTF8.self) }),
            names.contains(name)
        else {
            return nil
        }
        let text = UnsafeRawBufferPointer(
            rebasing: words[1].filter { $0 != UInt8(ascii: "\r") }.count == words[1].count
                ? words[1] : words[1].dropLast())
        guard let blob = Base64.decoded(text) else { throw SSHReader.malformed }
        return try blob.withUnsafeBytes { (bytes) throws(KeychainError) in
            let key = try key(bytes)
            guard OpenSSHPublicKey.name(of: key) == name else { throw SSHReader.malformed }
            return key
        }
    }

    /// UTF-8 of the mark; no line of a key starts with one of its bytes.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the key of a blob.
    static func key(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> PublicKey {
        var reader = SSHReader(bytes)
        let name = try reader.name()
        let key: PublicKey
        if name == "ssh-rsa" {
            let (exponent, modulus) = (try reader.integer(), try reader.integer())
            let der = SharedSecret(DERNumbers.encoded([modulus, exponent]))
            key = try der.withUnsafeBytes { (der) throws(KeychainError) in try PublicKey(external: der, type: .rsa) }
        } else {
            guard let curve = curve(of: name), try reader.name() == curveName(curve) else {
                throw KeychainError(
                    .unimplemented,
                    "OpenSSH keys of the kind \(names.contains(name) ? name : "that is given") are not supported")
            }
            let point = try reader.string()
            guard point.count == 1 + 2 * curve.byteCount, point.first == 4 else { throw SSHReader.malformed }
            key = try PublicKey(curve, point: point)
        }
        guard reader.remaining.isEmpty else { throw SSHReader.malformed }
        return key
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
        let encoded = Base64.encoded(try blob(key).bytes()).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
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

    private static let names: Set<String> = [
        "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-ed25519", "ssh-dss",
        "sk-ecdsa-sha2-nistp256@openssh.com", "sk-ssh-ed25519@openssh.com",
    ]
}
