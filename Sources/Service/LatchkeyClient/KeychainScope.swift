// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The keychains that a call works on, in place of those of the search list.
enum KeychainScope {
    @TaskLocal static var current: [KeychainName]?
}
