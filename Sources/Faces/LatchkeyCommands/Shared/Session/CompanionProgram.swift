// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// A program that has some of the commands, because it links what `latchkey` itself does not, so
/// that it starts fast.
package enum CompanionProgram: String, CaseIterable {
    /// The commands that connect to servers, with SwiftNIO.
    case transport = "latchkey-tls"
    /// The view of protected files as a file system, with libfuse3.
    case mount = "latchkey-mount"
    /// The Secret Service of a session bus, with libsystemd.
    case secretService = "latchkey-secret-service"
    /// The import from other keyrings, with libsystemd.
    case keyringImport = "latchkey-import"

    var name: String { rawValue }

    /// The Debian package that has the program.
    package var debianPackage: String {
        switch self {
        case .transport: "latchkey-tls"
        case .mount, .keyringImport: "latchkey"
        case .secretService: "latchkeyd"
        }
    }

    /// What makes the program available.
    var installationHint: String { "make install, or install the package \(debianPackage)" }

    /// Replaces this process by the program. It is the file beside this program, never one of PATH:
    /// what is installed there could be anything.
    ///
    /// - Parameter words: the arguments, byte for byte.
    /// - Throws: if there is no such file.
    func run(_ words: [CommandWord], in session: CommandSession) throws(CommandFailure) -> Never {
        // The streams of a test are not those of the process.
        guard session.io is ProcessIO else {
            throw .status(KeychainError(.unimplemented, "\(name) runs only from a process of its own"))
        }
        guard let path = ProcessDirectory(getpid()).executable.map(path(beside:)) else {
            throw .status(KeychainError(.notAvailable, "the path of this program is not known"))
        }
        let error = ProgramReplacement.execute(
            path, ([name] + session.companionOptions).map { Array($0.utf8) } + words.map(\.bytes))
        guard error.code == ENOENT else { throw .status(KeychainError(.notAvailable, error.description)) }
        throw .status(
            KeychainError(
                .notAvailable, "this command needs \(name), which is not installed beside latchkey: \(path)",
                hint: installationHint))
    }

    func path(beside executable: String) -> String {
        "\(executable.lastIndex(of: "/").map { executable[..<$0] } ?? ".")/\(name)"
    }
}
