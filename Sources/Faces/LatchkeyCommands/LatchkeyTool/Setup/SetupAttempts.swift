// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The changes of one run: one that fails is reported, and does not stop the next ones.
struct SetupAttempts {
    private let session: CommandSession
    private var firstFailure: KeychainError?

    init(in session: CommandSession) { self.session = session }

    /// Makes a change.
    ///
    /// - Returns: the result of `change`, or its failure.
    mutating func attempt<Value>(
        _ change: () throws(KeychainError) -> Value
    ) -> Result<Value, KeychainError> {
        let result = Result(catching: change)
        guard case .failure(let error) = result else { return result }
        session.report(.status(error), of: LatchkeySubcommand.setup.rawValue, as: .latchkey)
        if firstFailure == nil { firstFailure = error }
        return result
    }

    /// - Throws: the status of the first failure.
    func finish() throws(CommandFailure) {
        if let firstFailure { throw .reported(firstFailure.status.rawValue) }
    }
}
