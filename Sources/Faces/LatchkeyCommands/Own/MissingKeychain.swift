// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// Whether opening the keychain is going to make one.
enum MissingKeychain {
    /// The path of the database that is not there yet; nil where it is, or where that cannot be known.
    static var path: String? { home?.databasePath }

    /// Where the first use would make it.
    static var home: KeychainHome? {
        do {
            let home = try KeychainHome.resolve { SecureEnvironment.value(of: $0) }
            return try FileStatus.of(home.databasePath) == nil ? home : nil
        } catch {
            // Opening the keychain meets the same failure, and reports it.
            return nil
        }
    }
}
