// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LatchkeyService
internal import LinuxSystem
public import TrustedPlatformModule

/// The TPM that a program uses: the one that is named, or else the machine's.
public enum MachineHardware {
    /// The variable that names a TPM for the programs of a user: an address of ``TPMAddress``, or
    /// `none`.
    public static let variable = "LATCHKEY_TPM"

    /// - Parameters:
    ///   - address: the address that the administrator has configured, or `none`; nil for neither.
    ///   - readsEnvironment: whether ``variable`` may name a TPM.
    /// - Throws: errSecParam for something that is not an address: it is never ignored.
    public static func find(
        _ address: String? = nil, readsEnvironment: Bool
    ) throws(KeychainError) -> TrustedPlatformModule? {
        let named = address ?? (readsEnvironment ? SecureEnvironment.value(of: variable) : nil)
        if named == "none" { return nil }
        if let named {
            do throws(TPMError) {
                return TrustedPlatformModule(try TPMAddress(named))
            } catch {
                throw KeychainError(error)
            }
        }
        guard case .device(let path) = TPMAddress.system, access(path, F_OK) == 0 else { return nil }
        return TrustedPlatformModule(.system)
    }
}

extension SecureHardware {
    /// - Parameters:
    ///   - module: nil for a machine without a TPM.
    ///   - offersSoftwareEnclave: as ``offersSoftwareEnclave``.
    public init(_ module: TrustedPlatformModule?, offersSoftwareEnclave: Bool = false) {
        self.init(
            root: module.map { TPMRoot($0) }, credentials: CredentialSealer(), enclave: module.map { TPMEnclave($0) },
            offersSoftwareEnclave: offersSoftwareEnclave)
    }
}
