// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LinuxSystem

/// Determines the subordinate user ids (subuid(5)). With user namespaces, an ordinary user can act as each of them,
/// usually 65,536, and would have separate quotas and limits for each.
///
/// An id with an account in the user file is not subordinate, even if a range contains it: accounts are created by the
/// administrator, and few. Root is never subordinate. If the ranges are unknown, every id without an account counts as
/// subordinate.
public final class SubordinateUsers: Sendable {
    public static let systemPath = "/etc/subuid"

    private let path: String
    private let ranges: ParsedFile<SubordinateRanges>
    private let accounts: ParsedFile<Set<UInt32>>

    /// - Parameters:
    ///   - path: the file of ranges; if it does not exist, no id is subordinate.
    ///   - users: the user file, in the format of passwd(5).
    public init(_ path: String = systemPath, users: String = "/etc/passwd") {
        self.path = path
        ranges = ParsedFile(path, limit: Self.maxLength) { (bytes) throws(SystemError) in
            try SubordinateRanges(parsing: bytes, path: path)
        }
        accounts = ParsedFile(users, limit: SystemUsers.maxLength) { SystemUsers.numbers(in: $0) }
    }

    /// Throws if the user id is subordinate. Reads the files again only if they have changed.
    ///
    /// - Throws: errSecMissingEntitlement if the id is subordinate, or an invalid line leaves that
    ///   open; errSecNotAvailable if a file cannot be read now.
    public func refuse(_ user: UInt32) throws(KeychainError) {
        guard user != 0 else { return }
        let granted = Self.outcome { () throws(SystemError) in try ranges.content().contains(user) }
        if case .success(false) = granted { return }
        let known = Self.outcome { () throws(SystemError) in try accounts.content().contains(user) }
        if case .success(true) = known { return }
        // The first error of a file that could not be read.
        for case .failure(let error) in [granted, known] where !error.isContentError {
            throw KeychainError(
                .notAvailable, "latchkeyd cannot determine whether user \(user) is a subordinate user id: \(error)",
                hint: "try again, or make \(path) readable for latchkeyd")
        }
        var (problem, remedy) = ("is a subordinate user id (\(path))", "run the program as a user with an account")
        if case .failure(let error) = granted {
            (problem, remedy) = ("may be a subordinate user id: \(error)", error.hint ?? "correct \(path)")
        }
        throw KeychainError(
            .missingEntitlement, "user \(user) has no keychain, because it \(problem)",
            hint: "\(remedy), or ask the administrator: subordinate-users = allow in /etc/latchkey/daemon.conf")
    }

    private static func outcome(_ body: () throws(SystemError) -> Bool) -> Result<Bool, SystemError> {
        Result(catching: body)
    }

    /// The number of times that the ranges were read; for tests.
    var readCount: Int { ranges.readCount }

    /// 4 MiB.
    private static let maxLength = 4 << 20
}
