// SPDX-License-Identifier: Apache-2.0

internal import KeyServices
internal import KeychainModel
internal import SecretMemory

/// Fuzzes everything that reads keys, signatures and ciphertexts from outside. The first byte
/// selects the reader, the rest is its input. A key that is read must be written unchanged and be
/// readable again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKeys(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard let choice = bytes.first else { return 0 }
    let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch choice % 8 {
    case 0: privateKey(rest, .rsa)
    case 1: privateKey(rest, .ellipticCurve)
    case 2: publicKey(rest, .rsa)
    case 3: publicKey(rest, .ellipticCurve)
    case 4: file(rest)
    case 5: signature(rest)
    case 6: _ = try? Keys.curve?.decrypted(rest, .ecies(.standard, .sha256, derivesIV: true))
    default: _ = try? Keys.curve?.publicKey.isSignature(rest, of: rest, .ecdsa(.rfc4754, .digest(nil)))
    }
    return 0
}

private enum Keys {
    static let curve = try? SoftwareKey.generate(KeyKind(.ellipticCurve, bits: 256))
}

private func privateKey(_ bytes: UnsafeRawBufferPointer, _ type: KeyType) {
    guard let key = try? SoftwareKey(external: bytes, type: type) else { return }
    guard let external = try? key.external(), external.withUnsafeBytes({ $0.elementsEqual(bytes) }) else {
        fatalError("a private key is not written as it was read, because it has two encodings")
    }
    let algorithm: KeyAlgorithm =
        type == .rsa ? .rsaSignature(.pkcs1(.message(.sha256))) : .ecdsa(.x962, .message(.sha256))
    _ = try? key.signature(of: bytes, algorithm)
}

private func publicKey(_ bytes: UnsafeRawBufferPointer, _ type: KeyType) {
    guard let key = try? PublicKey(external: bytes, type: type) else { return }
    guard key.external.elementsEqual(bytes) else {
        fatalError("a public key is not written as it was read, because it has two encodings")
    }
    for algorithm in KeyAlgorithm.all { _ = try? key.encrypted(bytes, algorithm) }
}

private func file(_ bytes: UnsafeRawBufferPointer) {
    for entry in (try? KeyFile.read(bytes, passphrase: SharedSecret(copying: "a passphrase".utf8))) ?? [] {
        for structure in KeyFile.Structure.allCases {
            guard let text = try? KeyFile.write(entry, as: structure) else { continue }
            let again = text.withUnsafeBytes { try? KeyFile.read($0) }
            guard again?.first?.publicKey.external == entry.publicKey.external else {
                fatalError(
                    "a key changes when it is written to a file and read, because encoding and decoding differ")
            }
        }
    }
}

private func signature(_ bytes: UnsafeRawBufferPointer) {
    let digest = SharedSecret(copying: [UInt8](repeating: 1, count: 32))
    digest.withUnsafeBytes { digest in
        guard (try? Keys.curve?.publicKey.isSignature(bytes, of: digest, .ecdsa(.x962, .digest(.sha256)))) != true
        else {
            fatalError("random bytes are accepted as a signature, because a check is missing")
        }
    }
}
