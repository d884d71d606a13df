// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LinuxSystem

/// The reason why a sub-command failed.
package enum CommandFailure: Error {
    /// Invalid options or operands. The usage text follows; the exit value is 2.
    case usage(String?)
    /// A failed call. `of` is macOS's name for the call, if macOS prints one.
    case status(KeychainError, of: String? = nil)
    /// A line that macOS prints without the program's name; the exit value is 1.
    case line(TerminalText, hint: String? = nil)
    /// The failure was already reported.
    case reported(Int32)

    /// Returns the failure for an invalid value: errSecParam.
    package static func parameter(_ problem: String, hint: String? = nil) -> CommandFailure {
        .status(KeychainError(.param, problem, hint: hint))
    }

    /// The status. The exit value is its lowest byte.
    package var status: Int32 {
        switch self {
        case .usage: Int32(Self.usageExitValue)
        case .status(let error, _): error.status.rawValue
        case .line: 1
        case .reported(let status): status
        }
    }

    /// The exit value after a command line that is not valid.
    static let usageExitValue: UInt8 = 2

    /// The kind of failure; nil if it was reported in another way.
    var identifier: ErrorIdentifier? {
        switch self {
        case .usage: .usage
        case .status(let error, _): error.identifier
        case .line, .reported: nil
        }
    }

    /// Runs `body`, and adds the name of the failed call to its errors.
    package static func mapErrors<Result>(
        _ function: String?, _ body: () throws(KeychainError) -> Result
    ) throws(CommandFailure) -> Result {
        try withErrors(as: { CommandFailure.status($0, of: function) }, body)
    }
}

// MARK: - Wording

extension CommandFailure {
    /// Returns the lines for standard error. For `usage`, the usage text follows them.
    ///
    /// - Parameter command: the command's name; empty for the words before it.
    func lines(for program: Program, command: String) -> [TerminalText] {
        switch self {
        case .usage(let problem):
            let name: TerminalText = command.isEmpty ? "" : "\(command): "
            return problem.map { ["\(program.rawValue): \(name)\($0)"] } ?? []
        case .status(let error, let function):
            let call: TerminalText = function.map { "\($0): " } ?? ""
            return ["\(program.rawValue): \(call)\(Self.text(of: error))"]
                + (Self.hint(for: error, of: command).map { ["hint: \($0)"] } ?? [])
        case .line(let line, let hint):
            return [line] + (hint.map { ["hint: \($0)"] } ?? [])
        case .reported:
            return []
        }
    }

    private static func hint(for error: KeychainError, of command: String) -> String? {
        if let hint = error.hint { return hint }
        guard error.problem == error.status.message else { return nil }
        switch error.status {
        case .itemNotFound: return "security dump-keychain lists the items"
        case .duplicateItem where CommandTable.hasOption("-U", command): return "-U updates an existing item"
        default: return nil
        }
    }

    private static func text(of error: KeychainError) -> String {
        if error.authentication == .failed(.notInteractive) {
            return "user interaction is not allowed: \(error.problem)"
        }
        guard error.problem == error.status.message else { return error.problem }
        return knownTexts[error.status] ?? error.problem
    }

    /// Messages with the words that identify these failures to programs on macOS (go-keyring looks for "could not be
    /// found"). The words are part of the interface, like the exit values.
    private static let knownTexts: [OSStatusCode: String] = [
        .itemNotFound: "a matching item could not be found",
        .duplicateItem: "an item with the same key attributes already exists",
        .interactionNotAllowed: "the item is locked, and user interaction is not allowed here",
    ]
}
