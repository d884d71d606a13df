// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// Why a sub-command did not do its work.
enum CommandFailure: Error {
    /// Options or operands that it does not take. Its usage and help follow; the exit value is 2.
    case usage(String?)
    /// A call failed. `of` names it as macOS does, where macOS does.
    case status(KeychainError, of: String? = nil)
    /// A line that macOS prints as it stands, without the program's name; the exit value is 1.
    case line(TerminalText)
    /// Everything has been said.
    case reported(Int32)

    /// A value that cannot be understood: errSecParam.
    static func parameter(_ problem: String, hint: String? = nil) -> CommandFailure {
        .status(KeychainError(.param, problem, hint: hint))
    }

    /// The status, of which the exit value is the lowest byte.
    var status: Int32 {
        switch self {
        case .usage: 2
        case .status(let error, _): error.status.rawValue
        case .line: 1
        case .reported(let status): status
        }
    }

    /// Gives errors of the keychain the name of the call that failed.
    static func mapErrors<Result>(
        _ function: String?, _ body: () throws(KeychainError) -> Result
    ) throws(CommandFailure) -> Result {
        do {
            return try body()
        } catch {
            throw .status(error, of: function)
        }
    }
}

// MARK: - Wording

extension CommandFailure {
    /// The lines for standard error; those of `usage` come before the usage text.
    func lines(for program: Program, command: String) -> [TerminalText] {
        switch self {
        case .usage(let problem):
            return problem.map { ["\(program.rawValue): \(command): \($0)"] } ?? []
        case .status(let error, let function):
            let call: TerminalText = function.map { "\($0): " } ?? ""
            return ["\(program.rawValue): \(call)\(Self.text(of: error))"]
                + (Self.hint(for: error, of: command).map { ["hint: \($0)"] } ?? [])
        case .line(let line):
            return [line]
        case .reported:
            return []
        }
    }

    private static func hint(for error: KeychainError, of command: String) -> String? {
        if let hint = error.hint { return hint }
        guard error.problem == error.status.message else { return nil }
        switch error.status {
        case .itemNotFound: return "security dump-keychain lists what is there"
        case .duplicateItem where CommandTable.hasOption("-U", command): return "-U updates an item that exists"
        default: return nil
        }
    }

    private static func text(of error: KeychainError) -> String {
        guard error.problem == error.status.message else { return error.problem }
        return knownTexts[error.status] ?? error.problem
    }

    /// Messages that hold the words by which programs know these failures on macOS (go-keyring looks for "could not be found"). The
    /// words are part of the interface, as the exit values are.
    private static let knownTexts: [OSStatusCode: String] = [
        .itemNotFound: "a matching item could not be found",
        .duplicateItem: "an item with the same key attributes already exists",
        .interactionNotAllowed: "the item is locked, and user interaction is not allowed here",
    ]
}
