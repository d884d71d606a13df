// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// One of the two headers of a file: the part that is readable without its key, and the sealed state.
struct ContainerHeader: Hashable, Sendable {
    let layout: ContainerLayout
    /// Increases with every change of the file.
    let sequence: UInt64
    let key: FileKeyRecord
    let seal: ContainerSeal
    let sealedState: [UInt8]

    /// The bytes that the seal of the state authenticates: everything before it.
    static func authenticated(
        _ layout: ContainerLayout, _ sequence: UInt64, _ key: FileKeyRecord, stateLength: Int
    ) -> [UInt8] {
        let record = key.encoded
        var bytes = ContainerFormat.magic
        bytes.append(bigEndian: layout.version)
        bytes.append(bigEndian: sequence)
        bytes.append(bigEndian: UInt32(layout.chunkSize))
        bytes.append(bigEndian: UInt16(record.count))
        bytes += record
        bytes.append(bigEndian: UInt16(stateLength))
        return bytes
    }

    var authenticated: [UInt8] { Self.authenticated(layout, sequence, key, stateLength: sealedState.count) }

    /// The header as it is stored: ``ContainerFormat/headerLength`` bytes.
    var encoded: [UInt8] {
        let bytes = authenticated + seal.bytes + sealedState
        return bytes + [UInt8](repeating: 0, count: ContainerFormat.headerLength - bytes.count)
    }

    /// Decodes a header.
    ///
    /// - Throws: ``FileProtectionError/notProtected``, ``FileProtectionError/unsupportedVersion(_:)``,
    ///   ``FileProtectionError/damaged(_:)``.
    init(decoding bytes: ArraySlice<UInt8>) throws(FileProtectionError) {
        var reader = FieldReader(bytes)
        guard reader.bytes(ContainerFormat.magic.count).map(Array.init) == ContainerFormat.magic else {
            throw .notProtected
        }
        guard let version: UInt16 = reader.number() else { throw .damaged("it ends within the header") }
        guard let layout = ContainerLayout(version: version) else { throw .unsupportedVersion(version) }
        guard bytes.count == ContainerFormat.headerLength, let sequence: UInt64 = reader.number(),
            let chunkSize: UInt32 = reader.number(), let recordLength: UInt16 = reader.number(),
            let record = reader.bytes(Int(recordLength)), let stateLength: UInt16 = reader.number(),
            let sealBytes = reader.bytes(ContainerSeal.length), let seal = ContainerSeal(sealBytes),
            let sealedState = reader.bytes(Int(stateLength)), let padding = reader.bytes(reader.remaining)
        else { throw .damaged("it ends within the header") }
        guard chunkSize == UInt32(layout.chunkSize) else {
            throw .damaged("its chunks have \(chunkSize) bytes, expected \(layout.chunkSize)")
        }
        guard let key = FileKeyRecord(decoding: Array(record)) else { throw .damaged("its key record is invalid") }
        guard Self.isZero(padding) else { throw .damaged("the header is followed by unexpected bytes") }
        self.layout = layout
        self.sequence = sequence
        self.key = key
        self.seal = seal
        self.sealedState = Array(sealedState)
    }

    /// Most of a header is padding: a loop over memory is faster than one over a collection.
    private static func isZero(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var bits: UInt8 = 0
            for byte in bytes { bits |= byte }
            return bits == 0
        }
    }
}

// MARK: Sealing

extension ContainerHeader {
    /// Seals a state.
    init(
        sealing state: ContainerState, _ layout: ContainerLayout, _ sequence: UInt64, _ key: FileKeyRecord,
        with cipher: any ContainerCipher
    ) throws(FileProtectionError) {
        let plaintext = state.encoded
        let authenticated = Self.authenticated(layout, sequence, key, stateLength: plaintext.count)
        var sealed = [UInt8](repeating: 0, count: plaintext.count)
        var outcome = Result<ContainerSeal, FileProtectionError>.failure(.closed)
        plaintext.withUnsafeBytes { plaintext in
            sealed.withUnsafeMutableBytes { sealed in
                outcome = Result { () throws(FileProtectionError) in
                    try cipher.seal(plaintext, authenticating: authenticated, into: sealed)
                }
            }
        }
        seal = try outcome.get()
        self.layout = layout
        self.sequence = sequence
        self.key = key
        sealedState = sealed
    }

    /// Opens the state.
    ///
    /// - Returns: nil if the header is not the one that was written.
    func state(with cipher: any ContainerCipher) throws(FileProtectionError) -> ContainerState? {
        var plaintext = [UInt8](repeating: 0, count: sealedState.count)
        var outcome = Result<Bool, FileProtectionError>.success(false)
        sealedState.withUnsafeBytes { sealed in
            plaintext.withUnsafeMutableBytes { plaintext in
                outcome = Result { () throws(FileProtectionError) in
                    try cipher.open(sealed, seal, authenticating: authenticated, into: plaintext)
                }
            }
        }
        return try outcome.get() ? ContainerState(decoding: plaintext, layout) : nil
    }
}
