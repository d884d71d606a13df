// SPDX-License-Identifier: Apache-2.0

internal import EnrolledPrints
internal import Glibc
internal import LinuxSystem

/// The command `latchkey-biometry-digest [DIRECTORY]`: answers the connection that is its standard
/// input with the digest of the peer's enrolled fingers, and ends. systemd starts it as root.
@main
enum BiometryDigest {
    static func main() {
        do {
            try ProcessHardening.apply()
            guard Socket.isSocket(STDIN_FILENO, listening: false) else {
                return fail("standard input is not a connection; systemd starts this program")
            }
            let directory = try ProcessArguments.texts().first ?? PrintStore.defaultDirectory
            try DigestService(store: PrintStore(directory)).answer(Socket(adopting: STDIN_FILENO))
        } catch {
            fail("\(error)")
        }
    }

    private static func fail(_ problem: String) {
        let line = Array("latchkey-biometry-digest: \(problem)\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(1)
    }
}
