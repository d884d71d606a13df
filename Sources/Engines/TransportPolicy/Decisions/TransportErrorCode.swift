// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// A code of Apple's `NSURLErrorDomain` (NSURLError.h). Codes that are not listed here are kept.
public struct TransportErrorCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let cancelled = Self(rawValue: -999)
    public static let badURL = Self(rawValue: -1000)
    public static let timedOut = Self(rawValue: -1001)
    public static let unsupportedURL = Self(rawValue: -1002)
    public static let cannotFindHost = Self(rawValue: -1003)
    public static let cannotConnectToHost = Self(rawValue: -1004)
    public static let networkConnectionLost = Self(rawValue: -1005)
    /// The response breaks the protocol, beyond its syntax.
    public static let badServerResponse = Self(rawValue: -1011)
    /// The encoded content of a response cannot be decoded.
    public static let cannotDecodeContentData = Self(rawValue: -1016)
    public static let cannotParseResponse = Self(rawValue: -1017)
    /// The body of a request is not as long as was said, or cannot be read.
    public static let requestBodyStreamExhausted = Self(rawValue: -1021)
    /// A response exceeds a limit.
    public static let dataLengthExceedsMaximum = Self(rawValue: -1103)
    /// Plain HTTP is not allowed.
    public static let appTransportSecurityRequiresSecureConnection = Self(rawValue: -1022)
    public static let secureConnectionFailed = Self(rawValue: -1200)
    public static let serverCertificateHasBadDate = Self(rawValue: -1201)
    public static let serverCertificateUntrusted = Self(rawValue: -1202)
    public static let serverCertificateHasUnknownRoot = Self(rawValue: -1203)
    public static let serverCertificateNotYetValid = Self(rawValue: -1204)
    public static let clientCertificateRejected = Self(rawValue: -1205)
    public static let clientCertificateRequired = Self(rawValue: -1206)

    /// The code for a rule that the server's chain breaks.
    public init(_ failure: TrustFailure) {
        self =
            switch failure.rule {
            case .expired: .serverCertificateHasBadDate
            case .notYetValid: .serverCertificateNotYetValid
            case .untrusted: .serverCertificateHasUnknownRoot
            default: .serverCertificateUntrusted
            }
    }
}

// MARK: CustomStringConvertible

extension TransportErrorCode: CustomStringConvertible {
    /// Apple's name of the constant, or the number.
    public var description: String {
        switch self {
        case .cancelled: "NSURLErrorCancelled"
        case .badURL: "NSURLErrorBadURL"
        case .timedOut: "NSURLErrorTimedOut"
        case .cannotFindHost: "NSURLErrorCannotFindHost"
        case .cannotConnectToHost: "NSURLErrorCannotConnectToHost"
        case .networkConnectionLost: "NSURLErrorNetworkConnectionLost"
        case .badServerResponse: "NSURLErrorBadServerResponse"
        case .cannotDecodeContentData: "NSURLErrorCannotDecodeContentData"
        case .cannotParseResponse: "NSURLErrorCannotParseResponse"
        case .requestBodyStreamExhausted: "NSURLErrorRequestBodyStreamExhausted"
        case .dataLengthExceedsMaximum: "NSURLErrorDataLengthExceedsMaximum"
        case .unsupportedURL: "NSURLErrorUnsupportedURL"
        case .appTransportSecurityRequiresSecureConnection: "NSURLErrorAppTransportSecurityRequiresSecureConnection"
        case .secureConnectionFailed: "NSURLErrorSecureConnectionFailed"
        case .serverCertificateHasBadDate: "NSURLErrorServerCertificateHasBadDate"
        case .serverCertificateUntrusted: "NSURLErrorServerCertificateUntrusted"
        case .serverCertificateHasUnknownRoot: "NSURLErrorServerCertificateHasUnknownRoot"
        case .serverCertificateNotYetValid: "NSURLErrorServerCertificateNotYetValid"
        case .clientCertificateRejected: "NSURLErrorClientCertificateRejected"
        case .clientCertificateRequired: "NSURLErrorClientCertificateRequired"
        default: "\(rawValue)"
        }
    }
}
