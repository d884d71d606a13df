// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// Where a device key is moved to.
public struct RootTarget: Sendable, Equatable {
    public var root: KeychainStatus.Root
    /// The PCRs that the TPM requires to keep their present values; empty for none.
    public var registers: Set<UInt8>
    /// The text of the code that opens the device key when the PCRs have other values: a recovery
    /// key's form. Required with PCRs.
    public var code: SharedSecret?

    public init(_ root: KeychainStatus.Root, registers: Set<UInt8> = [], code: SharedSecret? = nil) {
        (self.root, self.registers, self.code) = (root, registers, code)
    }

    public static let tpm = RootTarget(.tpm)
    public static let file = RootTarget(.file)
    public static let credential = RootTarget(.credential)
}
