// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import LatchkeyClient

extension SecAccessControl: AccessControlSource {
    package var protectionClass: ProtectionClass? { ProtectionClass(rawValue: protection) }

    /// The constraints as the keychain knows them; empty if there are none.
    package var accessControlFlags: AccessControlFlags { AccessControlFlags(rawValue: UInt64(flags?.rawValue ?? 0)) }
}
