// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// Another program of the installation. Most have some of the commands, because they link what `latchkey` itself
/// does not, so that it starts fast.
package enum CompanionProgram: String, CaseIterable {
    /// The commands that connect to servers, with SwiftNIO.
    case transport = "latchkey-tls"
    /// The view of protected files as a file system, with libfuse3.
    case mount = "latchkey-mount"
    /// The Secret Service of a session bus, with libsystemd.
    case secretService = "latchkey-secret-service"
    /// The import from other keyrings, with libsystemd.
    case keyringImport = "latchkey-import"
    /// The daemon, which is in no directory of PATH.
    case daemon = "latchkeyd"

    var name: String { rawValue }

    /// The Debian package that has the program.
    package var debianPackage: String {
        switch self {
        case .transport: "latchkey-tls"
        case .mount, .keyringImport: "latchkey"
        case .secretService, .daemon: "latchkeyd"
        }
    }

    /// Replaces this process by the program, which is one of the same installation, never one of PATH.
    ///
    /// - Parameter words: the arguments, byte for byte.
    /// - Throws: errSecNotAvailable if it is not installed.
    func run(_ words: [CommandWord], in session: CommandSession) throws(CommandFailure) -> Never {
        // The streams of a test are not those of the process.
        guard session.io is ProcessIO else {
            throw .status(KeychainError(.unimplemented, "\(name) runs only from a process of its own"))
        }
        let path = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try installedPath() }
        let options = self == .daemon ? [] : session.companionOptions
        let error = ProgramReplacement.execute(path, ([name] + options).map { Array($0.utf8) } + words.map(\.bytes))
        throw .status(KeychainError(.notAvailable, error.description))
    }

    /// Runs a program of the installation without input, and reads its output.
    ///
    /// - Parameter timeout: in milliseconds.
    static func output(of words: [String], timeout: Int32) throws(KeychainError) -> (status: Int32, output: [UInt8]) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: maxOutput, alignment: 1)
        defer { buffer.deallocate() }
        do throws(SystemError) {
            let result = try ChildProcess.run(words, readingInto: buffer, timeout: timeout)
            return (result.status, Array(buffer.prefix(result.count)))
        } catch {
            throw KeychainError(.notAvailable, error.description)
        }
    }

    /// 64 KiB.
    private static let maxOutput = 1 << 16

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
            "this command needs \(name), which is not installed in \(installation.directories.joined(separator: " or "))",
            hint: "make install, or install the package \(debianPackage)")
    }
}
