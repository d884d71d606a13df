// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem
public import SecretMemory

/// The keys of protected files, wrapped by the class keys of a keychain.
public struct KeychainFileKeys: Sendable {
    let keychain: OpenKeychain

    public func create(
        _ protection: FileProtectionClass, group: String?, withholdsKey: Bool, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKey {
        let group = try Authorizer.authorize(caller).groupForFile(named: group)
        let key = SharedSecret(.random(count: Self.fileKeyLength))
        let record = try wrap(key, protection, file: RandomBytes.array(count: 16), group)
        return FileKey(record, key: withholdsKey ? nil : key)
    }

    public func open(_ record: FileKeyRecord, from caller: CallerIdentity) throws(KeychainError) -> SharedSecret {
        try Authorizer.authorize(caller).requireAccess(to: record.binding.group)
        let binding = record.binding
        guard let classKey = try keychain.run({ () throws(StoreError) in try classKeys.key(of: binding) }) else {
            throw Self.missingClassKey(binding.protection)
        }
        guard let key = classKey.unwrap(record), key.count == Self.fileKeyLength else {
            throw KeychainError(.decode, "the key of the file does not open: its header was changed")
        }
        return key
    }

    public func rewrap(
        _ record: FileKeyRecord, for protection: FileProtectionClass?, group: String?, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKeyRecord {
        var target = record.binding.group
        if let group { target = try Authorizer.authorize(caller).groupForMove(named: group) }
        let key = try open(record, from: caller)
        return try wrap(key, protection ?? record.binding.protection, file: record.binding.file, target)
    }

    public func use(_ request: FilePartRequest, from caller: CallerIdentity) throws(KeychainError) -> FilePart {
        guard request.input.count <= FilePartRequest.maxLength,
            request.authenticated.count <= FilePartRequest.maxAuthenticatedLength
        else { throw .parameter("a part of a protected file has at most \(FilePartRequest.maxLength) bytes") }
        let cipher = FilePartCipher(key: try open(request.record, from: caller))
        return try cipher.process(request)
    }

    /// Creates the newest class keys if protected files are used, so that class B can be used while
    /// the keychain is locked.
    func renew() {
        // Without them, the next use of a file creates them.
        try? keychain.run { () throws(StoreError) in try classKeys.renew() }
    }

    private var classKeys: FileClassKeys { FileClassKeys(keychain.store, now: keychain.now()) }

    private func wrap(
        _ key: SharedSecret, _ protection: FileProtectionClass, file: [UInt8], _ group: AccessGroup
    ) throws(KeychainError) -> FileKeyRecord {
        let (wrapping, generation) = try keychain.run { () throws(StoreError) in try classKeys.newest(protection) }
        let identifier = try keychain.run { () throws(StoreError) in keychain.store.keychainIdentifier }
        guard
            let binding = FileKeyRecord.Binding(
                keychain: identifier, protection: protection, generation: generation, file: file, group: group)
        else {
            throw .parameter("the access group of a file has at most \(FileKeyRecord.maxGroupLength) bytes")
        }
        guard let record = wrapping.wrap(GeneratedFileKey(binding: binding, secret: key)) else {
            throw KeychainError(.internalFailure, "the key of the file could not be wrapped")
        }
        return record
    }

    private static func missingClassKey(_ protection: FileProtectionClass) -> KeychainError {
        KeychainError(
            .itemNotFound, "this keychain does not have the class key of the file",
            hint: protection == .none
                ? "files of the class none open only in the keychain that made them"
                : "another keychain has made the file: restore a backup of that one")
    }

    private static let fileKeyLength = 32
}

/// Encrypts and decrypts parts of a file, for a program that does not get the key.
private struct FilePartCipher {
    private let cipher: FileKeyCipher

    init(key: SharedSecret) { cipher = FileKeyCipher(KnownFileKey(key)) }

    func process(_ request: FilePartRequest) throws(KeychainError) -> FilePart {
        var output = [UInt8](repeating: 0, count: request.input.count)
        defer { output.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        var outcome = Result<ContainerSeal?, FileProtectionError>.success(nil)
        request.input.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { target in
                outcome = Result { () throws(FileProtectionError) in
                    guard let bytes = request.seal else {
                        return try cipher.seal(input, authenticating: request.authenticated, into: target)
                    }
                    guard let seal = ContainerSeal(bytes),
                        try cipher.open(input, seal, authenticating: request.authenticated, into: target)
                    else { throw .damaged("a part of the file was changed") }
                    return nil
                }
            }
        }
        do throws(FileProtectionError) {
            let seal = try outcome.get()
            return FilePart(SharedSecret(copying: output), seal: seal?.bytes)
        } catch {
            throw KeychainError(.decode, error.description)
        }
    }
}
