// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory
internal import Synchronization

/// The passcode that a process can give without asking anybody: from a file or a credential of its own.
///
/// It is asked for once, and only when something is closed: judging a passcode takes a while by design, and a wrong one does not become right.
public final class AutomaticUnlock: Sendable {
    public typealias Source = @Sendable () throws(KeychainError) -> SharedSecret?

    private let source: Source
    private let isUsed = Mutex(false)

    init(_ source: @escaping Source) {
        self.source = source
    }

    /// nil the second time, and where there is none.
    func passcode() throws(KeychainError) -> SharedSecret? {
        let isFirst = isUsed.withLock { used in
            defer { used = true }
            return !used
        }
        return isFirst ? try source() : nil
    }
}
