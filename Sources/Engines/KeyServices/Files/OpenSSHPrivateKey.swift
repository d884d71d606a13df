// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// An OpenSSH private key, `openssh-key-v1` (PROTOCOL.key), without a passphrase. The file must
/// hold exactly one key.
enum OpenSSHPrivateKey {
    static func read(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> SoftwareKey {
        var reader = SSHReader(bytes)
        guard try reader.take(magic.count).elementsEqual(magic) else { throw SSHReader.malformed }
        let (cipher, derivation) = (try reader.name(), try reader.name())
        _ = try reader.string()
        guard try reader.number() == 1 else {
            throw KeychainError(.unimplemented, "the file contains several OpenSSH keys")
        }
        let blob = try reader.string()
        // Before the encryption: without its passphrase, a key of another type is not read either.
        let type = try OpenSSHPublicKey.type(of: blob)
        guard cipher == "none", derivation == "none" else {
            throw KeychainError(
                .unimplemented,
                "the OpenSSH private key (\(type)) is encrypted, and its derivation (bcrypt) is not supported",
                hint: "remove the passphrase from a copy: ssh-keygen -p -N '' -f COPY")
        }
        let section = try reader.string()
        guard reader.remaining.isEmpty else { throw SSHReader.malformed }
        let publicKey = try OpenSSHPublicKey.key(blob)
        let key = try privateKey(section)
        guard key.publicKey.external == publicKey.external else { throw SSHReader.malformed }
        return key
    }

    private static func privateKey(_ section: UnsafeRawBufferPointer) throws(KeychainError) -> SoftwareKey {
        var reader = SSHReader(section)
        guard try reader.number() == reader.number() else { throw SSHReader.malformed }
        let name = try reader.name()
        let key: SoftwareKey
        if name == "ssh-rsa" {
            let (n, e, d) = (try reader.integer(), try reader.integer(), try reader.integer())
            let (inverse, p, q) = (try reader.integer(), try reader.integer(), try reader.integer())
            _ = try PublicKey.kind(modulus: n, exponent: e)
            guard [d, inverse, p, q].allSatisfy({ $0.count <= n.count }) else { throw SSHReader.malformed }
            let derived = try crypto { () throws(OpenSSLError) in try RSAKeyParts.derived(exponent: d, p, q) }
            let given = [n, e, d, p, q].map { SharedSecret(SecretBytes(copying: $0)) }
            key = try SoftwareKey(rsa: given + derived.prefix(2) + [SharedSecret(SecretBytes(copying: inverse))])
        } else {
            guard let curve = OpenSSHPublicKey.curve(of: name), try reader.name() == OpenSSHPublicKey.curveName(curve)
            else { throw SSHReader.malformed }
            let (point, scalar) = (try reader.string(), try reader.integer())
            guard scalar.count <= curve.byteCount else { throw SSHReader.malformed }
            let padded = SharedSecret(
                SecretBytes(count: curve.byteCount) { buffer in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[(curve.byteCount - scalar.count)...]).copyMemory(
                        from: scalar)
                })
            key = try padded.withUnsafeBytes { (scalar) throws(KeychainError) in
                try SoftwareKey(curve, scalar: scalar, point: point)
            }
        }
        _ = try reader.string()  // The comment.
        guard reader.remaining.enumerated().allSatisfy({ $1 == UInt8(truncatingIfNeeded: $0 + 1) }),
            reader.remaining.count < 256
        else {
            throw SSHReader.malformed
        }
        return key
    }

    static func written(_ key: SoftwareKey) throws(KeychainError) -> SharedSecret {
        let blob = try OpenSSHPublicKey.blob(key.publicKey)
        var section = SSHWriter()
        // The check number is written twice, so that a wrong passphrase can be detected.
        let check = SecretBytes.random(count: 4).withUnsafeBytes { Array($0) }
        section.write(check)
        section.write(check)
        section.write(string: (OpenSSHPublicKey.name(of: key.publicKey) ?? "").utf8)
        if let curve = key.publicKey.curve {
            section.write(string: OpenSSHPublicKey.curveName(curve).utf8)
            section.write(string: key.publicKey.external)
            section.write(
                integer: try crypto { () throws(OpenSSLError) in SharedSecret(try key.key.scalar(of: curve)) })
        } else {
            let (modulus, exponent) = try crypto { () throws(OpenSSLError) in try key.key.publicRSANumbers() }
            let secrets = try crypto { () throws(OpenSSLError) in try key.key.secretRSANumbers() }
            let order = [
                SharedSecret(copying: modulus), SharedSecret(copying: exponent), secrets[0], secrets[5], secrets[1],
                secrets[2],
            ]
            for number in order { section.write(integer: number) }
        }
        section.write(string: [])
        section.write((0..<(8 - section.count % 8) % 8).map { UInt8($0 + 1) })
        var file = SSHWriter()
        file.write(magic)
        file.write(string: "none".utf8)
        file.write(string: "none".utf8)
        file.write(string: [])
        file.write(number: 1)
        file.write(string: blob)
        file.write(string: section)
        return file.bytes()
    }

    private static let magic = Array("openssh-key-v1\0".utf8)
}
