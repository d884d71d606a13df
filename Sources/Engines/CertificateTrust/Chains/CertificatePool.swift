// SPDX-License-Identifier: Apache-2.0

/// A set of certificates, indexed by subject.
public struct CertificatePool: Sendable {
    private var bySubject: [NormalizedName: [Certificate]] = [:]
    private var members: Set<Certificate> = []

    public init(_ certificates: some Sequence<Certificate>) {
        for certificate in certificates { insert(certificate) }
    }

    private mutating func insert(_ certificate: Certificate) {
        guard members.insert(certificate).inserted else { return }
        bySubject[certificate.normalizedSubject, default: []].append(certificate)
    }

    /// A pool with these certificates and the others.
    func adding(_ others: [Certificate]) -> CertificatePool {
        var pool = self
        for certificate in others { pool.insert(certificate) }
        return pool
    }

    public func contains(_ certificate: Certificate) -> Bool { members.contains(certificate) }

    /// The certificates with this subject.
    func certificates(of subject: NormalizedName) -> [Certificate] { bySubject[subject] ?? [] }

    func hasCertificate(of subject: NormalizedName) -> Bool { bySubject[subject] != nil }

    /// Returns the subjects in this pool with a path of issuer names to a subject of `anchors`.
    ///
    /// The cost depends only on the size of this pool, not on that of `anchors` (possibly all of the system's anchors).
    func namesReaching(to anchors: CertificatePool) -> Set<NormalizedName> {
        var issued: [NormalizedName: [NormalizedName]] = [:]
        for (subject, certificates) in bySubject {
            for certificate in certificates { issued[certificate.normalizedIssuer, default: []].append(subject) }
        }
        var leading: Set<NormalizedName> = []
        var open = issued.keys.filter(anchors.hasCertificate)
        while let name = open.popLast() {
            for subject in issued[name] ?? [] where leading.insert(subject).inserted { open.append(subject) }
        }
        return leading
    }
}
