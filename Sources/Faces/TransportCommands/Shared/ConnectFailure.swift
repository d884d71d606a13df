// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import NIOCore
internal import NIOPosix

/// The reason that there is no connection.
enum ConnectFailure {
    static func text(_ error: any Error) -> String {
        switch error {
        case let failure as NIOConnectionError:
            failure.connectionErrors.first.map { text($0.error) } ?? "the name \(failure.host) has no address"
        case let failure as IOError: SystemError("connect", code: failure.errnoCode).reason
        case ChannelError.connectTimeout(let time): "no connection within \(time.nanoseconds / 1_000_000_000) seconds"
        default: "\(error)"
        }
    }
}
