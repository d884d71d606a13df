// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Latchkey
import LatchkeyFoundation
import Testing

@Suite("Protected data")
struct ProtectedDataTests {
    @Test("The lock posts the notifications of protected data")
    func notifications() async throws {
        let keychain = try TestKeychain(.ephemeral)
        try await keychain.runTask(groups: ["G1"]) {
            try Keychain.default.setPasscode("correct horse")
            let center = NotificationCenter()
            let (names, continuation) = AsyncStream.makeStream(of: Notification.Name.self)
            let tokens = [
                ProtectedData.didBecomeAvailableNotification, ProtectedData.willBecomeUnavailableNotification,
            ]
            .map { name in
                center.addObserver(forName: name, object: nil, queue: nil) { continuation.yield($0.name) }
            }
            let task = try ProtectedData.postNotifications(to: center)
            #expect(ProtectedData.isAvailable)
            try Keychain.default.lock(immediately: true)
            var iterator = names.makeAsyncIterator()
            #expect(await iterator.next() == ProtectedData.willBecomeUnavailableNotification)
            #expect(!ProtectedData.isAvailable)
            try Keychain.default.unlock(passcode: "correct horse")
            #expect(await iterator.next() == ProtectedData.didBecomeAvailableNotification)
            task.cancel()
            for token in tokens { center.removeObserver(token) }
        }
    }
}
