// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyClient
internal import LinuxSystem
internal import NIOCore

/// Work that may block, and therefore must not run on an event loop: the evaluation of certificates
/// reads files and may fetch revocation evidence, and a signature may wait until a person agrees.
///
/// It has its own threads, so that a slow peer delays no other call of the keychain.
package enum BlockingWork {
    private static let pool = ForkLocal { BlockingCallPool() }

    package static func run(_ work: @escaping @Sendable () -> Void) { pool.value.run(work) }

    static func run<Value: Sendable>(
        on eventLoop: any EventLoop, _ work: @escaping @Sendable () -> Result<Value, any Error>
    ) -> EventLoopFuture<Value> {
        let promise = eventLoop.makePromise(of: Value.self)
        pool.value.run { promise.completeWith(work()) }
        return promise.futureResult
    }
}
