// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// The key of an open file in this process: kept as long as the lock leaves the class of the file
/// open, and requested from the keychain again afterwards.
final class HeldFileKey: FileKeySource {
    private let record: FileKeyRecord
    private let keys: OpenFileKeys
    private let number: UInt64
    private let open: @Sendable () throws(KeychainError) -> KeychainSession

    init(
        _ record: FileKeyRecord, _ secret: SharedSecret, _ keys: OpenFileKeys,
        open: @escaping @Sendable () throws(KeychainError) -> KeychainSession
    ) {
        self.record = record
        self.keys = keys
        self.open = open
        number = keys.register()
        keys.keep(secret, record.binding.protection, as: number)
    }

    func key() throws(KeychainError) -> SharedSecret {
        if let kept = keys.key(number) { return kept }
        try keys.requireService()
        let secret = try open().openFileKey(record)
        keys.keep(secret, record.binding.protection, as: number)
        return secret
    }

    deinit { keys.forget(number) }
}

/// The cipher of a file with a key that stays in the keychain's service.
struct ServiceFileCipher: ContainerCipher {
    private let record: FileKeyRecord
    private let keys: OpenFileKeys
    private let open: @Sendable () throws(KeychainError) -> KeychainSession

    init(
        _ record: FileKeyRecord, _ keys: OpenFileKeys,
        open: @escaping @Sendable () throws(KeychainError) -> KeychainSession
    ) {
        (self.record, self.keys, self.open) = (record, keys, open)
    }

    func requireOpen() throws(FileProtectionError) {
        guard keys.lock != .unlocked else { return }
        try withErrors(as: FileProtectionError.key) { () throws(KeychainError) in
            try keys.requireService()
            let protection = record.binding.protection.itemProtection
            guard try open().lockStatus().open.contains(protection) else { throw .interactionNotAllowed }
        }
    }

    func seal(
        _ plaintext: UnsafeRawBufferPointer, authenticating: [UInt8], into ciphertext: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) -> ContainerSeal {
        let part = try withErrors(as: FileProtectionError.key) { () throws(KeychainError) in
            try open().useFileKey(request(plaintext, authenticating, seal: nil))
        }
        guard let seal = part.seal.flatMap({ ContainerSeal($0) }), copy(part, into: ciphertext) else {
            throw .key(.unexpectedResponse)
        }
        return seal
    }

    func open(
        _ ciphertext: UnsafeRawBufferPointer, _ seal: ContainerSeal, authenticating: [UInt8],
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(FileProtectionError) -> Bool {
        let part: FilePart
        do throws(KeychainError) {
            part = try open().useFileKey(request(ciphertext, authenticating, seal: seal.bytes))
        } catch {
            if error.status == .decode { return false }
            throw .key(error)
        }
        guard copy(part, into: plaintext) else { throw .key(.unexpectedResponse) }
        return true
    }

    private func request(
        _ input: UnsafeRawBufferPointer, _ authenticated: [UInt8], seal: [UInt8]?
    ) -> FilePartRequest {
        FilePartRequest(
            record, SharedSecret(SecretBytes(copying: input)), authenticated: authenticated, seal: seal)
    }

    private func copy(_ part: FilePart, into target: UnsafeMutableRawBufferPointer) -> Bool {
        part.output.withUnsafeBytes { bytes in
            guard bytes.count == target.count else { return false }
            target.copyMemory(from: bytes)
            return true
        }
    }
}
