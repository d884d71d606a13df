// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// Calls that are answered on the thread of the bus, without the hand-over to a thread of ``FairCalls`` and back: it
/// costs more than most reads. The thread of the bus receives nothing meanwhile.
///
/// That delays no other caller: nothing else waits for that thread, and no call is in turn. The reads are of a few items
/// that are open, and wait neither for a person nor for another process (``SecretStore/readingAtOnce(_:)``); a call
/// that needs more is answered in turns, from its beginning.
extension SecretServer {
    /// Answers a call now, or gives it to a thread of `calls`.
    func receive(_ call: BusMethodCall, _ calls: FairCalls) {
        guard call.isAlone, isShort(call), calls.isIdle else {
            return calls.add(for: call.caller) { [weak self] in self?.receive(call) }
        }
        do throws(BusFailure) { try admit(call) } catch { return call.fail(error) }
        if let values = valuesAtOnce(call) { return call.answer(values) }
        calls.add(for: call.caller) { [weak self] in
            do throws(BusFailure) {
                return try self?.perform(call)
            } catch {
                call.fail(error)
                return nil
            }
        }
    }

    /// Whether a call only reads, and perhaps only a few items.
    private func isShort(_ call: BusMethodCall) -> Bool {
        // The program of another caller would be asked for, by a call of this bus.
        guard call.caller.peer?.process != nil else { return false }
        switch call.member {
        case "SearchItems", "GetSecret": return true
        case "GetSecrets":
            guard case .array(_, let paths)? = call.arguments.first else { return false }
            return paths.count <= SecretLimits.maxPathsAtOnce
        case "Get", "GetAll":
            // The state of a collection includes the state of the lock, and other processes keep the lock.
            guard case .item? = SecretPath(call.path) else { return false }
            return true
        default: return false
        }
    }

    /// - Returns: nil if the answer needs more than a few reads, and for an error.
    private func valuesAtOnce(_ call: BusMethodCall) -> [BusValue]? {
        let values = try? consent.noting { () throws(SecretStoreError) in
            store.readingAtOnce { () throws(SecretStoreError) in
                Result { () throws(BusFailure) -> [BusValue]? in
                    switch try answer(to: call) {
                    case .values(let values)?: values
                    case .read(let read)?: try read()
                    case .inTurns?, nil: nil
                    }
                }
            }
        }
        return (try? values?.get()) ?? nil
    }
}
