// SPDX-License-Identifier: Apache-2.0

import EnrolledPrints
import Glibc
import KeychainTesting
import LinuxSystem

/// A stand-in for systemd with latchkey-biometry-digest: it answers connections one after the other.
final class DigestHelper: Sendable {
    private let directory: TemporaryDirectory
    private let stop: StopSignal

    /// Asks the helper.
    var prints: StoredPrints {
        StoredPrints(socket: "\(directory.path)/socket", trustedUser: geteuid(), timeout: .seconds(300))
    }

    /// - Parameter storage: fprintd's directory of stored prints.
    init(storage: String) throws {
        let directory = try TemporaryDirectory()
        let listener = try Socket(listeningAt: "\(directory.path)/socket", permissions: 0o600)
        let stop = try StopSignal()
        let service = DigestService(store: PrintStore(storage))
        BackgroundThread.run {
            while let connection = try? listener.accept(until: stop) {
                try? service.answer(connection)
            }
        }
        (self.directory, self.stop) = (directory, stop)
    }

    deinit { stop.raise() }
}
