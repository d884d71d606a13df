// SPDX-License-Identifier: Apache-2.0

/// How many bytes a search on this thread may collect before it is refused.
///
/// A server binds it around the searches of its clients; a program that searches its own keychain has no limit.
public enum ResultLimit {
    @TaskLocal public static var current: Int?
}
