// SPDX-License-Identifier: Apache-2.0

internal import enum Crypto.AES
internal import struct Crypto.SymmetricKey
internal import FoundationEssentials
public import KeychainModel
public import SecretMemory

/// Encrypts and decrypts the parts of one file, with the file's key or elsewhere.
public protocol ContainerCipher: Sendable {
    /// Throws if the content may not be read or changed now, also if it is in memory.
    func requireOpen() throws(FileProtectionError)

    /// Encrypts with AES-256-GCM and a fresh random nonce.
    ///
    /// - Parameter ciphertext: receives as many bytes as the plaintext has.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, authenticating: [UInt8], into ciphertext: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) -> ContainerSeal

    /// Decrypts; returns false for a ciphertext that ``seal(_:authenticating:into:)`` has not produced.
    ///
    /// - Parameter plaintext: receives as many bytes as the ciphertext has.
    func open(
        _ ciphertext: UnsafeRawBufferPointer, _ seal: ContainerSeal, authenticating: [UInt8],
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) -> Bool
}

/// Gives the key of a file as long as its class is open.
public protocol FileKeySource: Sendable {
    /// The key, 32 bytes.
    ///
    /// - Throws: errSecInteractionNotAllowed while the class is closed.
    func key() throws(KeychainError) -> SharedSecret
}

/// The cipher of a process that has the file's key.
public struct FileKeyCipher: ContainerCipher {
    private let source: any FileKeySource

    public init(_ source: any FileKeySource) { self.source = source }

    public func requireOpen() throws(FileProtectionError) { _ = try key }

    public func seal(
        _ plaintext: UnsafeRawBufferPointer, authenticating: [UInt8], into ciphertext: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) -> ContainerSeal {
        let key = try symmetricKey
        guard plaintext.count == ciphertext.count,
            let box = try? AES.GCM.seal(BorrowedBytes(plaintext), using: key, authenticating: authenticating),
            let seal = ContainerSeal(Array(box.nonce) + Array(box.tag))
        else { throw .damaged("a chunk could not be encrypted") }
        box.ciphertext.withUnsafeBytes { ciphertext.copyMemory(from: $0) }
        return seal
    }

    public func open(
        _ ciphertext: UnsafeRawBufferPointer, _ seal: ContainerSeal, authenticating: [UInt8],
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) -> Bool {
        let key = try symmetricKey
        guard plaintext.count == ciphertext.count, let nonce = try? AES.GCM.Nonce(data: seal.nonce),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: BorrowedBytes(ciphertext), tag: seal.tag),
            var opened = try? AES.GCM.open(box, using: key, authenticating: authenticating)
        else { return false }
        opened.withUnsafeMutableBytes { bytes in
            plaintext.copyMemory(from: UnsafeRawBufferPointer(bytes))
            SecretBytes.wipe(bytes)
        }
        return true
    }

    private var key: SharedSecret {
        get throws(FileProtectionError) {
            do throws(KeychainError) { return try source.key() } catch { throw .key(error) }
        }
    }

    private var symmetricKey: SymmetricKey {
        get throws(FileProtectionError) { try key.withUnsafeBytes { SymmetricKey(data: $0) } }
    }
}
