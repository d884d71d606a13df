// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
@_spi(Testing) import SecurityKey
@testable import SecurityKeyTesting
import Testing

@Suite("Touch and cancellation of a security key", .longAnswerTimeout)
struct TouchTests {
    @Test("A denied operation is reported as denied")
    func denied() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change { $0.touch = .denied }
        #expect(throws: SecurityKeyError.denied) { _ = try device.key.deriveSecret(from: credential) }
        #expect(throws: SecurityKeyError.denied) { _ = try device.key.enroll(verification: .touch) }
    }

    @Test("Without a touch the operation ends with the timeout, and the device is told to stop")
    func timeout() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change { $0.touch = .never }
        #expect(throws: SecurityKeyError.noTouch) {
            _ = try device.key.deriveSecret(from: credential, timeout: .milliseconds(200))
        }
        #expect(throws: SecurityKeyError.noTouch) {
            _ = try device.key.enroll(verification: .touch, timeout: .milliseconds(200))
        }
        #expect(device.cancelCount == 2)
    }

    @Test("Another thread cancels an operation that waits for the touch")
    func cancel() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change { $0.touch = .never }
        let cancellation = SecurityKeyCancellation()
        BackgroundThread.run { if device.waitUntilTouchIsAwaited() { cancellation.request() } }
        #expect(throws: SecurityKeyError.cancelled) {
            _ = try device.key.deriveSecret(from: credential, timeout: .seconds(600), cancellation: cancellation)
        }
        #expect(device.cancelCount >= 1)
        #expect(device.closeCount == device.openCount)
    }

    @Test("A cancellation that the device ignores, because it does not wait yet, is repeated")
    func cancelBeforeTheWait() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        let cancellation = SecurityKeyCancellation()
        device.change {
            $0.touch = .never
            $0.arrival = { command in
                // The key agreement comes before the request that waits for the touch.
                guard command == .getKeyAgreement else { return }
                cancellation.request()
                _ = device.waitForCancellation()
            }
        }
        #expect(throws: SecurityKeyError.cancelled) {
            _ = try device.key.deriveSecret(from: credential, timeout: .seconds(600), cancellation: cancellation)
        }
        #expect(device.cancelCount >= 2)
    }

    @Test("A requested cancellation ends later operations before the device is opened")
    func cancelledBefore() throws {
        let device = SoftwareAuthenticator()
        let cancellation = SecurityKeyCancellation()
        cancellation.request()
        cancellation.request()
        #expect(cancellation.isRequested)
        #expect(throws: SecurityKeyError.cancelled) {
            _ = try device.key.enroll(verification: .touch, cancellation: cancellation)
        }
        #expect(device.openCount == 0)
    }

    @Test("A device that ignores every cancellation is given up long before the timeout")
    func ignored() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change {
            $0.touch = .never
            $0.ignoredCancellations = .max
        }
        let cancellation = SecurityKeyCancellation()
        BackgroundThread.run { if device.waitUntilTouchIsAwaited() { cancellation.request() } }
        #expect(throws: SecurityKeyError.cancelled) {
            _ = try device.key.deriveSecret(from: credential, timeout: .seconds(600), cancellation: cancellation)
        }
    }

    @Test("A secret that arrives after the cancellation is not returned")
    func cancelledAfterTheTouch() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        let cancellation = SecurityKeyCancellation()
        device.change {
            $0.arrival = { if $0 == .getAssertion { cancellation.request() } }
            $0.ignoredCancellations = .max
        }
        #expect(throws: SecurityKeyError.cancelled) {
            _ = try device.key.deriveSecret(from: credential, cancellation: cancellation)
        }
    }

    @Test("Cancellations at any time end operations, and leave the device usable", arguments: 0..<20)
    func races(_ round: Int) throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change { $0.touch = round.isMultiple(of: 2) ? .never : .given }
        let cancellation = SecurityKeyCancellation()
        // A derivation has three commands.
        let count = device.commands.count + round / 2 % 4
        BackgroundThread.run {
            _ = device.waitForCommands(count)
            cancellation.request()
        }
        do throws(SecurityKeyError) {
            _ = try device.key.deriveSecret(from: credential, timeout: .seconds(600), cancellation: cancellation)
            #expect(!round.isMultiple(of: 2))
        } catch {
            #expect(error == .cancelled)
        }
        device.change { $0.touch = .given }
        _ = try device.key.deriveSecret(from: credential)
        #expect(device.closeCount == device.openCount)
    }

    @Test("Keys on several threads do not disturb each other")
    func threads() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let device = SoftwareAuthenticator()
                    let credential = try device.key.enroll(verification: .touch)
                    let secret = try device.key.secret(from: credential)
                    #expect(try device.key.secret(from: credential) == secret)
                }
            }
            try await group.waitForAll()
        }
    }
}
