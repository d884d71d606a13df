// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOSSL
internal import TransportPolicy

/// What the errors of a channel mean for an exchange.
enum ChannelErrors {
    /// - Parameter handshake: of the connection; nil without TLS.
    static func failure(_ error: any Error, _ handshake: TLSHandshake?) -> AttemptFailure {
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
        case let closed as NIOHTTP2Errors.StreamClosed: return reset(closed.errorCode)
        case let stream as NIOHTTP2Errors.StreamError: return failure(stream.baseError, handshake)
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

    private static func reset(_ code: HTTP2ErrorCode) -> AttemptFailure {
        let failure = HTTPFailure(.networkConnectionLost, "the server reset the stream with \(code)")
        switch code {
        case .refusedStream: return AttemptFailure(failure: failure, repetition: .safe)
        default: return AttemptFailure(failure: failure)
        }
    }
}
