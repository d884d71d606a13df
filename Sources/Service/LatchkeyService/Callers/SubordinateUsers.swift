// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LinuxSystem

/// Which user ids are subordinate ones (subuid(5)). By user namespaces an ordinary user is each of them, 65,536 as a rule, and would have
/// a quota and limits of its own for each.
///
/// An id that has an account in the file of users is not subordinate, whatever the ranges say: accounts are the administrator's, and few.
/// Root never is. Where the ranges are not known, every id without an account is taken for a subordinate one.
public final class SubordinateUsers: Sendable {
    public static let systemPath = "/etc/subuid"

    private let path: String
    private let ranges: ParsedFile<SubordinateRanges>
    private let accounts: ParsedFile<Set<UInt32>>

    /// - Parameters:
    ///   - path: the file of ranges; where there is none, no id is subordinate.
    ///   - users: the file of users, in the format of passwd(5).
    public init(_ path: String = systemPath, users: String = "/etc/passwd") {
        self.path = path
        ranges = ParsedFile(path, limit: Self.maxLength) { (bytes) throws(SystemError) in
            try SubordinateRanges(parsing: bytes, path: path)
        }
        accounts = ParsedFile(users, limit: SystemUsers.maxLength) { SystemUsers.numbers(in: $0) }
    }

    /// Refuses a subordinate user id. Looks whether the files have changed; reads them only then.
    ///
    /// - Throws: errSecMissingEntitlement where the id is subordinate, or a line of the file leaves it open; errSecNotAvailable where a file
    ///   cannot be read now.
    public func refuse(_ user: UInt32) throws(KeychainError) {
        guard user != 0 else { return }
        let granted = Self.outcome { () throws(SystemError) in try ranges.content().contains(user) }
        if case .success(false) = granted { return }
        let known = Self.outcome { () throws(SystemError) in try accounts.content().contains(user) }
        if case .success(true) = known { return }
        // Whichever of the two is not known.
        for case .failure(let error) in [granted, known] where !error.isContentError {
            throw KeychainError(
                .notAvailable, "latchkeyd cannot tell whether user \(user) is a subordinate user id: \(error)",
                hint: "try again, or make \(path) readable for latchkeyd")
        }
        var (problem, remedy) = ("is a subordinate user id (\(path))", "run the program as a user with an account")
        if case .failure(let error) = granted {
            (problem, remedy) = ("may be a subordinate user id: \(error)", error.hint ?? "mend \(path)")
        }
        throw KeychainError(
            .missingEntitlement, "user \(user) has no keychain, because it \(problem)",
            hint: "\(remedy), or ask the administrator: subordinate-users = allow in /etc/latchkey/daemon.conf")
    }

    private static func outcome(_ body: () throws(SystemError) -> Bool) -> Result<Bool, SystemError> {
        Result(catching: body)
    }

    /// How often the ranges were read; for tests.
    var readCount: Int { ranges.readCount }

    /// 4 MiB.
    private static let maxLength = 4 << 20
}
