// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// The calls that are not answered yet. Used on the thread of the bus only.
struct UnansweredCalls {
    private struct Entry {
        let header: CallHeader
        let cost: Int
        var caller: BusCaller
    }

    /// The number and the bytes of a set of calls.
    private struct Use {
        var calls = 0
        var bytes = 0
    }

    private var entries: [UInt64: Entry] = [:]
    private var users: [CallAccount: Use] = [:]
    private var processes: [CallAccount: Use] = [:]
    /// The cost of the last refused call of each process that has other calls.
    private var refused: [CallAccount: Int] = [:]
    private var total = Use()

    /// Whether a call can be added; one as large as the last one that was refused, so that a process cannot have
    /// large calls decoded again and again that are then refused.
    func hasRoom(for caller: BusCaller, _ limits: BusLimits) -> Bool {
        total.calls < limits.maxUnansweredCalls && hasShare(caller, cost: refused[caller.account] ?? 0, limits)
    }

    /// - Parameter cost: the memory of the arguments, in bytes.
    /// - Returns: false if the call would exceed a limit.
    mutating func add(
        _ identifier: UInt64, _ header: CallHeader, of caller: BusCaller, cost: Int, _ limits: BusLimits
    ) -> Bool {
        guard hasRoom(for: caller, limits), cost <= limits.maxUnansweredBytes - total.bytes,
            hasShare(caller, cost: cost, limits)
        else {
            if processes[caller.account] != nil { refused[caller.account] = cost }
            return false
        }
        insert(Entry(header: header, cost: cost, caller: caller), identifier)
        return true
    }

    /// Charges a call to its user and its process, now that both are known.
    ///
    /// - Returns: false if it would exceed their limits; then it stays where it is.
    mutating func move(_ identifier: UInt64, to caller: BusCaller, _ limits: BusLimits) -> Bool {
        guard var entry = entries[identifier] else { return false }
        guard entry.caller != caller else { return true }
        guard hasShare(caller, cost: entry.cost, limits, isCounted: true) else { return false }
        remove(identifier)
        entry.caller = caller
        insert(entry, identifier)
        return true
    }

    /// Removes a call, and returns the header for its answer; nil if the call was answered.
    @discardableResult
    mutating func remove(_ identifier: UInt64) -> CallHeader? {
        guard let entry = entries.removeValue(forKey: identifier) else { return nil }
        Self.add(-1, -entry.cost, to: entry.caller.userAccount, &users)
        Self.add(-1, -entry.cost, to: entry.caller.account, &processes)
        if processes[entry.caller.account] == nil { refused[entry.caller.account] = nil }
        total.calls -= 1
        total.bytes -= entry.cost
        return entry.header
    }

    private mutating func insert(_ entry: Entry, _ identifier: UInt64) {
        entries[identifier] = entry
        Self.add(1, entry.cost, to: entry.caller.userAccount, &users)
        Self.add(1, entry.cost, to: entry.caller.account, &processes)
        total.calls += 1
        total.bytes += entry.cost
    }

    private static func add(_ calls: Int, _ bytes: Int, to account: CallAccount, _ uses: inout [CallAccount: Use]) {
        var use = uses[account] ?? Use()
        use.calls += calls
        use.bytes += bytes
        uses[account] = use.calls > 0 ? use : nil
    }

    /// - Parameter isCounted: whether the call is in `total` already.
    private func hasShare(_ caller: BusCaller, cost: Int, _ limits: BusLimits, isCounted: Bool = false) -> Bool {
        let (ofUser, own) = (users[caller.userAccount] ?? Use(), processes[caller.account] ?? Use())
        guard ofUser.calls < limits.maxUnansweredCallsPerUser,
            cost <= limits.maxUnansweredBytesPerUser - ofUser.bytes
        else { return false }
        guard let share = limits.unansweredShare else { return true }
        // The second half: however many processes have taken their shares, something is left for one more.
        let freeCalls = limits.maxUnansweredCalls - total.calls + (isCounted ? 1 : 0)
        let freeBytes = limits.maxUnansweredBytes - total.bytes + (isCounted ? cost : 0)
        return own.calls < min(share.calls, freeCalls) && cost <= min(share.bytes, freeBytes) - own.bytes
    }
}

extension BusCaller {
    /// The account of all connections of the user.
    fileprivate var userAccount: CallAccount { peer.map { .user($0.user) } ?? .connection(connection) }
}

/// The data of a call that an answer needs: its sender and its number. The call itself is released when its arguments
/// are decoded, because it may be large.
final class CallHeader {
    /// A call without arguments from the same sender and with the same number.
    let message: OpaquePointer

    init(of call: OpaquePointer, on bus: OpaquePointer?) throws(BusError) {
        var copy: OpaquePointer?
        let created = sd_bus_message_new_method_call(bus, &copy, nil, "/", nil, "Answered")
        guard created >= 0, let copy else { throw .cannotSend(created, "the header of a call") }
        message = copy
        var number: UInt64 = 0
        for status in [
            sd_bus_message_set_sender(copy, sd_bus_message_get_sender(call)),
            sd_bus_message_set_expect_reply(copy, sd_bus_message_get_expect_reply(call)),
            sd_bus_message_get_cookie(call, &number), sd_bus_message_seal(copy, number, 0),
        ] where status < 0 {
            throw .cannotSend(status, "the header of a call")
        }
    }

    var expectsAnswer: Bool { sd_bus_message_get_expect_reply(message) > 0 }

    deinit { sd_bus_message_unref(message) }
}

// MARK: Answers

extension BusLoop {
    func answer(_ identifier: UInt64, _ values: [BusValue]) {
        guard let call = unanswered.remove(identifier), call.expectsAnswer else { return }
        do throws(BusError) {
            try reply(to: call.message, values)
        } catch .limitExceeded(let limit) {
            send(.limitsExceeded("the answer has more than \(limit)"), for: call.message)
        } catch {
            send(.failed(error.description), for: call.message)
        }
    }

    func fail(_ identifier: UInt64, _ failure: BusFailure) {
        guard let call = unanswered.remove(identifier) else { return }
        send(failure, for: call.message)
    }

    private func reply(to call: OpaquePointer, _ values: [BusValue]) throws(BusError) {
        var message: OpaquePointer?
        let status = sd_bus_message_new_method_return(call, &message)
        guard status >= 0, let message else { throw .cannotSend(status, "an answer") }
        defer { sd_bus_message_unref(message) }
        let count = try MessageEncoder.append(values, to: message, limits: limits)
        guard let receiver = BusName(senderOf: call) else { throw .invalid("an answer to a call without a sender") }
        guard unread.hasRoom(for: receiver, bytes: count, limits) else { return send(.unreadAnswers, for: call) }
        let sent = sd_bus_send(nil, message, nil)
        guard sent >= 0 else { throw .cannotSend(sent, "an answer") }
        noteAnswer(count, to: receiver)
    }

    /// Answers a call with an error. If that fails, the caller's timeout ends its call.
    func send(_ failure: BusFailure, for call: OpaquePointer) {
        guard sd_bus_message_get_expect_reply(call) > 0, let receiver = BusName(senderOf: call),
            !unread.isFull(for: receiver, limits)
        else { return }
        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        var message: OpaquePointer?
        // A name that is not valid is replaced, so that the caller has an answer.
        if sd_bus_error_set(&error, failure.name, failure.message) == -ENOMEM
            || sd_bus_message_new_method_error(call, &message, &error) < 0
        {
            return
        }
        sd_bus_send(nil, message, nil)
        sd_bus_message_unref(message)
        noteAnswer(failure.name.utf8.count + failure.message.utf8.count + Self.errorHeaderCount, to: receiver)
    }

    private static let errorHeaderCount = 256
}
