// SPDX-License-Identifier: Apache-2.0

/// The maximum number of bytes that a search on this thread may collect; a search that exceeds it
/// fails.
///
/// A server binds it around the searches of its clients. A program that searches its own keychain
/// has no limit.
public enum ResultLimit {
    @TaskLocal public static var current: Int?
}
