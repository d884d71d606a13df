// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOSSL
internal import TransportPolicy

/// The meaning of a channel's errors for an exchange.
enum ChannelErrors {
    /// - Parameters:
    ///   - handshake: of the connection; nil without TLS.
    ///   - limits: of the connection of a stream; nil for other errors.
    static func failure(
        _ error: any Error, _ handshake: TLSHandshake?, _ limits: StreamLimits? = nil
    ) -> AttemptFailure {
        switch error {
        case let failure as AttemptFailure: return failure
        case let failure as HTTPFailure: return AttemptFailure(failure: failure)
        case HTTPParserError.invalidEOFState:
            return lost("the server ended the connection before its response was complete")
        case HTTPParserError.headerOverflow:
            return AttemptFailure(
                failure: HTTPFailure(.dataLengthExceedsMaximum, "the fields of the response are too long or too many"))
        case is HTTPParserError, is NIOHTTPDecoderError:
            return AttemptFailure(failure: HTTPFailure(.cannotParseResponse, "the response is not HTTP/1.1: \(error)"))
        case let closed as NIOHTTP2Errors.StreamClosed:
            return limits?.isUnprocessed(Int(closed.streamID)) == true ? unprocessed : reset(closed.errorCode)
        case is NIOHTTP2Errors.CreatedStreamAfterGoaway: return unprocessed
        case let stream as NIOHTTP2Errors.StreamError: return failure(stream.baseError, handshake, limits)
        case is any NIOHTTP2Error:
            return AttemptFailure(failure: HTTPFailure(.badServerResponse, "the server breaks HTTP/2: \(error)"))
        case NIOSSLError.uncleanShutdown:
            return lost("the server ended the connection without the end that TLS requires")
        case is NIOSSLError, is BoringSSLError, is TLSRefusal:
            guard let refusal = handshake?.refusal(for: error) else { return lost("TLS failed: \(error)") }
            return AttemptFailure(failure: HTTPFailure(refusal))
        default: return lost("the connection was lost: \(error)")
        }
    }

    static func lost(_ explanation: String) -> AttemptFailure {
        AttemptFailure(failure: HTTPFailure(.networkConnectionLost, explanation), repetition: .ifRepeatable)
    }

    /// NIO reports the streams beyond the last of a GOAWAY as cancelled.
    private static var unprocessed: AttemptFailure {
        AttemptFailure(
            failure: HTTPFailure(.networkConnectionLost, "the server ended the connection before the request"),
            repetition: .safe)
    }

    private static func reset(_ code: HTTP2ErrorCode) -> AttemptFailure {
        let failure = HTTPFailure(.networkConnectionLost, "the server reset the stream with \(code)")
        switch code {
        case .refusedStream: return AttemptFailure(failure: failure, repetition: .safe)
        default: return AttemptFailure(failure: failure)
        }
    }
}
