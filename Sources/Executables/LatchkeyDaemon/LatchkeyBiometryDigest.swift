// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import EnrolledPrints
internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// The program `latchkey-biometry-digest`: only the command line and the start. systemd starts it as root for each
/// connection.
struct LatchkeyBiometryDigest: DaemonProgram {
    static let name = "latchkey-biometry-digest"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Answer the connection at standard input with the digest of the peer's enrolled fingers.",
        discussion: """
            fprintd stores prints in files that only root can read. The digest changes when a finger is enrolled or deleted.

            EXAMPLES:
              systemctl enable --now latchkey-biometry-digest.socket
            """,
        version: LatchkeyVersion.current)

    @Argument(help: "The directory of the prints of fprintd.")
    var directory = PrintStore.defaultDirectory

    func run() throws {
        do {
            try ProcessHardening.apply()
            guard Socket.isSocket(STDIN_FILENO, listening: false) else {
                throw Self.failure("standard input is not a connection; systemd starts this program", nil)
            }
            try DigestService(store: PrintStore(directory)).answer(Socket(adopting: STDIN_FILENO))
        } catch let code as ExitCode {
            throw code
        } catch {
            throw Self.failure("\(error)", nil)
        }
    }
}
