// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation

/// An X.509 certificate of version 1 to 3 (RFC 5280). Two certificates are equal if their bytes are
/// equal.
///
/// ```swift
/// guard let certificate = SecCertificateCreateWithData(nil, der as CFData) else {
///     throw NotACertificate()
/// }
/// ```
public final class SecCertificate: NSObject, Sendable {
    /// A `Certificate`, in a form that hides its type from clients.
    private let content: any AnyObject & Sendable

    init(_ body: Certificate) {
        content = body
        super.init()
    }

    var body: Certificate { unsafeDowncast(content, to: Certificate.self) }

    /// The certificate as it was given: one DER `SEQUENCE` with nothing after it.
    var der: Data { Data(body.der) }

    /// Whether the other object stands for the same content.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecCertificate)?.body == body
    }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int { body.hashValue }

    /// The subject's summary and the issuer's name, such as
    /// `<SecCertificate: example.com, issued by CN=Example CA>`.
    public override var description: String {
        "<SecCertificate: \(body.subjectSummary ?? "without a name"), issued by \(body.issuer)>"
    }
}

extension SecCertificate: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.certificate.rawValue }
}

/// Returns a certificate from its DER bytes, or nil if they are not a certificate. PEM text must be
/// decoded first.
///
/// Certificates with any key and signature algorithm can be read. `SecTrust` decides whether a
/// certificate is trusted.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    // A copy, because the caller's object may be an NSMutableData.
    (try? Certificate(der: Array(Data(bytes: data.bytes, count: data.length)))).map(SecCertificate.init)
}

/// Returns the type identifier of `SecCertificate`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecCertificateGetTypeID() -> CFTypeID {
    SecCertificate.typeID
}
