// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
public import SecurityKey

/// The FIDO2 security keys that are connected by USB, for a service.
public struct ConnectedSecurityKeys: SecurityKeyAccess {
    private let list: @Sendable () throws(SecurityKeyError) -> [SecurityKey]

    /// - Parameter list: returns the devices that are connected now.
    public init(
        _ list: @escaping @Sendable () throws(SecurityKeyError) -> [SecurityKey] = { () throws(SecurityKeyError) in
            try SecurityKey.connected()
        }
    ) {
        self.list = list
    }

    public func devices() throws(KeychainError) -> [any SecurityKeyDevice] {
        do throws(SecurityKeyError) {
            return try list().map { ConnectedSecurityKey($0) }
        } catch {
            throw KeychainError(error)
        }
    }
}
