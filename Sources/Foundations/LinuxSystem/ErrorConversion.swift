// SPDX-License-Identifier: Apache-2.0

/// Runs `body` at the border of a module: its errors are thrown as those of the caller.
///
///     try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in try FileLock(path) }
@inlinable public func withErrors<Result: ~Copyable, Inner: Error, Outer: Error>(
    as outer: (Inner) -> Outer, _ body: () throws(Inner) -> Result
) throws(Outer) -> Result {
    do throws(Inner) { return try body() } catch { throw outer(error) }
}
