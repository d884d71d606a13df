// SPDX-License-Identifier: Apache-2.0

@testable import Fingerprint
import LinuxSystem
import Testing

@Suite("Statuses that wait")
struct VerificationMailboxTests {
    private let mailbox: VerificationMailbox
    private let cancellation = Cancellation()

    init() throws { mailbox = try VerificationMailbox() }

    @Test("A miss that has arrived counts although the question has ended", arguments: [true, false])
    func late(_ isCancelled: Bool) throws {
        mailbox.add("verify-no-match", isDone: true)
        if isCancelled { cancellation.request() }
        let deadline: UInt64 = isCancelled ? .max : 0
        #expect(try mailbox.next(until: deadline, cancellation) == .noMatch)
        #expect(try mailbox.next(until: deadline, cancellation) == nil)
    }

    @Test("The end of the service comes after the statuses, and stays")
    func end() throws {
        mailbox.add("verify-retry-scan", isDone: false)
        mailbox.end(.disconnected)
        mailbox.end(.noReader)
        #expect(try mailbox.next(until: .max, cancellation) == .retry(.unusable, isLast: false))
        for _ in 1...2 {
            #expect(throws: FingerprintError.disconnected) { try mailbox.next(until: .max, cancellation) }
        }
    }

    @Test("A flood of statuses has a limit, and is a failure")
    func flood() throws {
        for _ in 1...1_000 { mailbox.add("verify-retry-scan", isDone: false) }
        var count = 0
        #expect(throws: FingerprintError.failed("more than 64 statuses at once")) {
            while try mailbox.next(until: .max, cancellation) != nil { count += 1 }
        }
        #expect(count == 64)
    }
}
