// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem
internal import OpenSSLCrypto

/// The digest of a policy, as a TPM computes it from the policy's commands (TCG TPM 2.0 Library,
/// part 3, section 23).
struct PolicyDigest {
    private(set) var bytes = [UInt8](repeating: 0, count: 32)

    /// Requires the authorization of an entity.
    ///
    /// - Parameter name: the name of the entity.
    mutating func requireSecret(of name: [UInt8]) throws(TPMError) {
        try extend(UInt32(TPM2_CC_PolicySecret), name)
        // The reference of the policy is empty.
        bytes = try Self.digest(of: bytes)
    }

    /// Requires values of PCRs.
    mutating func requireRegisters(_ selection: RegisterSelection, digest: [UInt8]) throws(TPMError) {
        try extend(UInt32(TPM2_CC_PolicyPCR), selection.encoded + digest)
    }

    private mutating func extend(_ command: UInt32, _ content: [UInt8]) throws(TPMError) {
        bytes = try Self.digest(of: bytes + command.bigEndianBytes + content)
    }

    static func digest(of bytes: [UInt8]) throws(TPMError) -> [UInt8] {
        do {
            return try bytes.withUnsafeBytes { try HashFunction.sha256.digest(of: $0) }
        } catch {
            throw .outOfMemory
        }
    }
}
