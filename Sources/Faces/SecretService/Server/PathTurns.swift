// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SystemBus

extension FairCalls.Step {
    /// The work of a call that may take long, as a turn of its own: it does not take the thread that is kept for
    /// calls that begin.
    init(_ call: BusMethodCall, _ body: @escaping @Sendable () throws(BusFailure) -> [BusValue]) {
        self.init {
            do throws(BusFailure) {
                call.answer(try body())
            } catch {
                call.fail(error)
            }
            return nil
        }
    }
}

/// A call with many paths. It is answered in turns of at most ``maxPaths`` paths and about ``maxTime``, and other
/// programs are answered between the turns. A path that is there twice counts once.
final class PathTurns<Progress: Sendable>: Sendable {
    private struct State {
        var paths: ArraySlice<ObjectPath>
        var seen: Set<ObjectPath> = []
        var progress: Progress
    }

    private let state: SystemMutex<State>
    private let each: @Sendable (ObjectPath, inout Progress) throws(BusFailure) -> Void
    private let end: @Sendable (Result<Progress, BusFailure>) -> Void

    /// - Parameters:
    ///   - each: does the work for one path.
    ///   - end: gets the result of all paths, or the first error.
    init(
        _ paths: [ObjectPath], _ start: Progress,
        each: @escaping @Sendable (ObjectPath, inout Progress) throws(BusFailure) -> Void,
        end: @escaping @Sendable (Result<Progress, BusFailure>) -> Void
    ) {
        state = SystemMutex(State(paths: paths[...], progress: start))
        (self.each, self.end) = (each, end)
    }

    /// - Parameter finish: returns the answer to the call.
    convenience init(
        _ paths: [ObjectPath], of call: BusMethodCall, _ start: Progress,
        each: @escaping @Sendable (ObjectPath, inout Progress) throws(BusFailure) -> Void,
        finish: @escaping @Sendable (Progress) throws(BusFailure) -> [BusValue]
    ) {
        self.init(paths, start, each: each) { result in
            do throws(BusFailure) {
                call.answer(try finish(try result.get()))
            } catch {
                call.fail(error)
            }
        }
    }

    /// The whole work.
    var step: FairCalls.Step { FairCalls.Step { [self] in run() } }

    private func run() -> FairCalls.Step? {
        do throws(BusFailure) {
            let done = try state.withLock { (state) throws(BusFailure) -> Progress? in try turn(&state) }
            guard let done else { return step }
            end(.success(done))
        } catch {
            end(.failure(error))
        }
        return nil
    }

    /// - Returns: nil if paths are left.
    private func turn(_ state: inout State) throws(BusFailure) -> Progress? {
        let end = BootClock.system.now() &+ Self.maxTime
        for _ in 0..<Self.maxPaths {
            guard let path = state.paths.popFirst() else { return state.progress }
            if state.seen.insert(path).inserted { try each(path, &state.progress) }
            if BootClock.system.now() >= end { break }
        }
        return state.paths.isEmpty ? state.progress : nil
    }

    static var maxPaths: Int { 1024 }
    /// Ten milliseconds, in nanoseconds.
    private static var maxTime: UInt64 { 10_000_000 }
}
