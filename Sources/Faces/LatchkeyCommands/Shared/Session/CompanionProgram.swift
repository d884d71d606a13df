// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// Another program of the installation.
enum CompanionProgram: String, CaseIterable {
    /// The commands that connect to servers, with SwiftNIO.
    case transport = "latchkey-tls"
    /// The search for secrets in files.
    case lint = "latchkey-lint"
    /// The Secret Service of a session bus.
    case secretService = "latchkey-secret-service"
    /// The daemon; it is in no directory of PATH.
    case daemon = "latchkeyd"

    var name: String { rawValue }

    /// The Debian package that has the program.
    var debianPackage: String {
        switch self {
        case .transport: "latchkey-tls"
        case .lint: "latchkey-lint"
        case .secretService, .daemon: "latchkeyd"
        }
    }

    /// Replaces this process by the program of the same installation, never by one of PATH.
    ///
    /// - Parameter words: the arguments, byte for byte.
    /// - Throws: errSecNotAvailable if it is not installed.
    func run(_ words: [CommandWord], in session: CommandSession) throws(CommandFailure) -> Never {
        // The streams of a test are not those of the process.
        guard session.io is ProcessIO else {
            throw .status(KeychainError(.unimplemented, "\(name) runs only from a process of its own"))
        }
        let path = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try installedPath() }
        let options = self == .daemon ? [] : session.verbosityOptions
        let error = ProgramReplacement.execute(path, ([name] + options).map { Array($0.utf8) } + words.map(\.bytes))
        throw .status(KeychainError(.notAvailable, error.description))
    }

    /// Returns the path of the program.
    ///
    /// - Throws: errSecNotAvailable if it is not installed.
    func installedPath() throws(KeychainError) -> String {
        guard let installation = Installation.current else {
            throw KeychainError(.notAvailable, "the path of this program is not known")
        }
        if let path = installation.program(name) { return path }
        throw KeychainError(
            .notAvailable,
            "this command needs \(name); it is not installed in \(installation.directories.joined(separator: " or "))",
            hint: "make install, or install the package \(debianPackage)")
    }
}
