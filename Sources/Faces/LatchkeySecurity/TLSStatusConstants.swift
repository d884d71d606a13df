// SPDX-License-Identifier: Apache-2.0

// TLS statuses, with Apple's names and numbers (SecBase.h, SecureTransport.h). This module does not
// make TLS connections: the constants are for source code that compares and prints them. Each
// comment is the message of the status in the table of KeychainModel's `OSStatusCode`.

// MARK: - TLS

/// TLS protocol violated.
public let errSSLProtocol: OSStatus = -9800
/// No cipher suite in common with the TLS peer.
public let errSSLNegotiation: OSStatus = -9801
/// The TLS peer sent a fatal alert.
public let errSSLFatalAlert: OSStatus = -9802
/// The TLS connection would block; not a failure.
public let errSSLWouldBlock: OSStatus = -9803
/// No TLS session with this identifier.
public let errSSLSessionNotFound: OSStatus = -9804
/// The TLS connection was closed in order.
public let errSSLClosedGraceful: OSStatus = -9805
/// The TLS connection was closed by an error.
public let errSSLClosedAbort: OSStatus = -9806
/// The TLS peer's certificate chain is invalid.
public let errSSLXCertChainInvalid: OSStatus = -9807
/// The TLS peer's certificate is malformed.
public let errSSLBadCert: OSStatus = -9808
/// A cryptographic operation of TLS failed.
public let errSSLCrypto: OSStatus = -9809
/// Internal failure of TLS.
public let errSSLInternal: OSStatus = -9810
/// A cryptographic module of TLS could not be attached.
public let errSSLModuleAttach: OSStatus = -9811
/// The root of the TLS peer's chain is unknown.
public let errSSLUnknownRootCert: OSStatus = -9812
/// The TLS peer's chain leads to no root.
public let errSSLNoRootCert: OSStatus = -9813
/// A certificate in the TLS peer's chain has expired.
public let errSSLCertExpired: OSStatus = -9814
/// A certificate in the TLS peer's chain is not valid yet.
public let errSSLCertNotYetValid: OSStatus = -9815
/// The TLS peer closed the connection without notice.
public let errSSLClosedNoNotify: OSStatus = -9816
/// The buffer for TLS is too small.
public let errSSLBufferOverflow: OSStatus = -9817
/// The TLS cipher suite is not one of those offered.
public let errSSLBadCipherSuite: OSStatus = -9818
/// The TLS peer received an unexpected message.
public let errSSLPeerUnexpectedMsg: OSStatus = -9819
/// The TLS peer received a record with a wrong MAC.
public let errSSLPeerBadRecordMac: OSStatus = -9820
/// The TLS peer could not decrypt a record.
public let errSSLPeerDecryptionFail: OSStatus = -9821
/// The TLS peer received a record that is too long.
public let errSSLPeerRecordOverflow: OSStatus = -9822
/// The TLS peer could not decompress a record.
public let errSSLPeerDecompressFail: OSStatus = -9823
/// The TLS peer ended the handshake.
public let errSSLPeerHandshakeFail: OSStatus = -9824
/// The TLS peer found our certificate malformed.
public let errSSLPeerBadCert: OSStatus = -9825
/// The TLS peer does not support our kind of certificate.
public let errSSLPeerUnsupportedCert: OSStatus = -9826
/// The TLS peer found our certificate revoked.
public let errSSLPeerCertRevoked: OSStatus = -9827
/// The TLS peer found our certificate expired.
public let errSSLPeerCertExpired: OSStatus = -9828
/// The TLS peer rejected our certificate for an unspecified reason.
public let errSSLPeerCertUnknown: OSStatus = -9829
/// A field of the TLS handshake is out of range.
public let errSSLIllegalParam: OSStatus = -9830
/// The TLS peer does not know the issuer of our certificate.
public let errSSLPeerUnknownCA: OSStatus = -9831
/// The TLS peer denied access.
public let errSSLPeerAccessDenied: OSStatus = -9832
/// The TLS peer could not decode a message.
public let errSSLPeerDecodeError: OSStatus = -9833
/// A cryptographic operation of the TLS peer failed.
public let errSSLPeerDecryptError: OSStatus = -9834
/// The TLS peer refused for export restrictions.
public let errSSLPeerExportRestriction: OSStatus = -9835
/// The TLS peer does not support our protocol version.
public let errSSLPeerProtocolVersion: OSStatus = -9836
/// The TLS peer requires stronger cipher suites.
public let errSSLPeerInsufficientSecurity: OSStatus = -9837
/// The TLS peer had an internal failure.
public let errSSLPeerInternalError: OSStatus = -9838
/// The user of the TLS peer cancelled.
public let errSSLPeerUserCancelled: OSStatus = -9839
/// The TLS peer does not renegotiate.
public let errSSLPeerNoRenegotiation: OSStatus = -9840
/// The TLS peer's certificate is ready to be evaluated; not a failure.
public let errSSLPeerAuthCompleted: OSStatus = -9841
/// The TLS server asks for a client certificate; not a failure.
public let errSSLClientCertRequested: OSStatus = -9842
/// The TLS peer's certificate is for another host.
public let errSSLHostNameMismatch: OSStatus = -9843
/// The TLS peer dropped the connection before it answered.
public let errSSLConnectionRefused: OSStatus = -9844
/// A TLS record could not be decrypted.
public let errSSLDecryptionFail: OSStatus = -9845
/// A TLS record has a wrong MAC.
public let errSSLBadRecordMac: OSStatus = -9846
/// A TLS record is too long.
public let errSSLRecordOverflow: OSStatus = -9847
/// The TLS configuration is invalid.
public let errSSLBadConfiguration: OSStatus = -9848
/// A TLS record came out of order.
public let errSSLUnexpectedRecord: OSStatus = -9849
/// The TLS peer's ephemeral Diffie-Hellman key is weak.
public let errSSLWeakPeerEphemeralDHKey: OSStatus = -9850
/// The TLS client's hello has arrived; not a failure.
public let errSSLClientHelloReceived: OSStatus = -9851
/// The transport below TLS was reset.
public let errSSLTransportReset: OSStatus = -9852
/// The network below TLS timed out.
public let errSSLNetworkTimeout: OSStatus = -9853
/// TLS could not be configured.
public let errSSLConfigurationFailed: OSStatus = -9854
/// Unsupported TLS extension.
public let errSSLUnsupportedExtension: OSStatus = -9855
/// An unexpected TLS message arrived.
public let errSSLUnexpectedMessage: OSStatus = -9856
/// A TLS record could not be decompressed.
public let errSSLDecompressFail: OSStatus = -9857
/// The TLS handshake failed.
public let errSSLHandshakeFail: OSStatus = -9858
/// A TLS message could not be decoded.
public let errSSLDecodeError: OSStatus = -9859
/// The TLS client fell back to an older version without need.
public let errSSLInappropriateFallback: OSStatus = -9860
/// A required TLS extension is missing.
public let errSSLMissingExtension: OSStatus = -9861
/// The OCSP response in the TLS handshake is invalid.
public let errSSLBadCertificateStatusResponse: OSStatus = -9862
/// The TLS server requires a client certificate.
public let errSSLCertificateRequired: OSStatus = -9863
/// Unknown TLS pre-shared key.
public let errSSLUnknownPSKIdentity: OSStatus = -9864
/// The TLS server does not know this host name.
public let errSSLUnrecognizedName: OSStatus = -9865
/// App Transport Security violated.
public let errSSLATSViolation: OSStatus = -9880
/// App Transport Security requires a newer TLS version.
public let errSSLATSMinimumVersionViolation: OSStatus = -9881
/// App Transport Security refuses the cipher suite.
public let errSSLATSCiphersuiteViolation: OSStatus = -9882
/// App Transport Security requires a larger key.
public let errSSLATSMinimumKeySizeViolation: OSStatus = -9883
/// App Transport Security refuses the hash of the leaf certificate.
public let errSSLATSLeafCertificateHashAlgorithmViolation: OSStatus = -9884
/// App Transport Security refuses the hash of a certificate.
public let errSSLATSCertificateHashAlgorithmViolation: OSStatus = -9885
/// App Transport Security requires a trusted certificate.
public let errSSLATSCertificateTrustViolation: OSStatus = -9886
/// The TLS peer rejected early data.
public let errSSLEarlyDataRejected: OSStatus = -9890

/// The same as `errSSLPeerAuthCompleted`: its older name.
public let errSSLServerAuthCompleted: OSStatus = -9841
