// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Synchronization

/// Makes calls of one kind on an existing keychain, on several threads, and prints the timings as
/// JSON. The environment determines the keychain, and whether a daemon is used.
struct ClientCommand: ParsableCommand {
    static let name = "client"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Time calls of one kind; started by `daemon`.")

    @Option var call: String
    @Option var items: Int
    @Option var threads = 1
    /// The number of calls of each thread.
    @Option var calls: Int

    /// The output of the command.
    struct Outcome: Codable {
        var time: Summary
        /// Calls per second, of all threads together.
        var rate: Double
    }

    func validate() throws {
        guard KeychainCall(rawValue: call) != nil else { throw ValidationError("--call: unknown call") }
    }

    func run() throws {
        guard let call = KeychainCall(rawValue: call) else { return }
        let keychain = EmbeddedKeychain()
        let outcome = try ThreadedRun.measure(threads: threads, calls: calls) { thread in
            var picker = ItemPicker()
            for _ in 0..<thread { _ = picker.items(1, below: items) }
            return { number in
                let item = call == .add ? Item(items + thread * calls + number) : picker.items(1, below: items)[0]
                return try keychain.time(call, on: item, size: items)
            }
        }
        // Added items are deleted again, so that the size does not change.
        if call == .add {
            for number in items..<items + threads * (calls + ThreadedRun.warmUp) {
                _ = try keychain.time(.delete, on: Item(number), size: items)
            }
        }
        print(String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self))
    }
}

/// Runs calls on several threads concurrently.
enum ThreadedRun {
    static let warmUp = 20

    /// - Parameter prepare: returns a thread's call. The call takes its number and returns its duration in nanoseconds.
    static func measure(
        threads: Int, calls: Int, _ prepare: @escaping @Sendable (Int) throws -> (Int) throws -> UInt64
    ) throws -> ClientCommand.Outcome {
        let results = Mutex<(times: Timings, problem: (any Error)?)>((Timings(), nil))
        let ready = DispatchSemaphore(value: 0)
        let go = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        for number in 0..<threads {
            let thread = Thread {
                defer { done.signal() }
                do {
                    let call = try prepare(number)
                    for index in 0..<warmUp { _ = try call(calls + index) }
                    ready.signal()
                    go.wait()
                    var times: [UInt64] = []
                    times.reserveCapacity(calls)
                    for index in 0..<calls { times.append(try call(index)) }
                    results.withLock { results in for time in times { results.times.append(time) } }
                } catch {
                    ready.signal()
                    results.withLock { $0.problem = error }
                }
            }
            thread.start()
        }
        for _ in 0..<threads { ready.wait() }
        let elapsed = Stopwatch.time {
            for _ in 0..<threads { go.signal() }
            for _ in 0..<threads { done.wait() }
        }.nanoseconds
        return try results.withLock { results in
            if let problem = results.problem { throw problem }
            return ClientCommand.Outcome(
                time: results.times.summary, rate: Double(threads * calls) / (Double(elapsed) / 1e9))
        }
    }
}
