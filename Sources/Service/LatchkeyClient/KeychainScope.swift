// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The keychains that a call works on, in place of those of the search list.
enum KeychainScope {
    @TaskLocal static var current: [KeychainName]?
    /// Whether this process opens keychains for a report, and changes no file.
    @TaskLocal static var inspects = false
}
