// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyService

/// The data that passes between a caller and the operation while it runs, in addition to its request and its answer.
package struct Exchange {
    package typealias Failure = KeychainError
    /// Takes a content that precedes the answer. An error that it throws ends the operation.
    package typealias Sink = (any ResponseContent) throws(Failure) -> Void
    package typealias Restart = () throws(Failure) -> Void
    package typealias Source = () throws(Failure) -> any KeychainOperation

    /// Called with the progress of a long operation.
    package var progress: ChangeProgress
    /// Takes the contents that precede the answer, also parts of it; nil if the answer is to be complete.
    package var take: Sink?
    /// Called if the operation begins anew after a content was taken; that content does not count then. Without it, an
    /// operation that has sent something is not repeated.
    package var restart: Restart?
    /// Returns the next part that the operation requests: a piece of a backup or of a file.
    package var give: Source?

    package init(
        progress: @escaping ChangeProgress = { _, _ in }, take: Sink? = nil, restart: Restart? = nil,
        give: Source? = nil
    ) {
        (self.progress, self.take, self.restart, self.give) = (progress, take, restart, give)
    }
}
