// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// How a PKCS #8 key is encrypted, looked at before any work is done for it: a file says how much work that is.
enum KeyEncryption: Equatable {
    /// It is no `EncryptedPrivateKeyInfo`.
    case none
    /// PBES2 with no more rounds than we make.
    case supported
    case tooManyRounds(Int)
    /// One of before PBES2.
    case legacy

    init(of der: UnsafeRawBufferPointer) {
        defer { ERR_clear_error() }
        var bytes = der.octets
        guard let sealed = d2i_X509_SIG(nil, &bytes, der.count) else {
            self = .none
            return
        }
        defer { X509_SIG_free(sealed) }
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_SIG_get0(sealed, &algorithm, nil)
        guard let algorithm = algorithm?.pointee, OBJ_obj2nid(algorithm.algorithm) == NID_pbes2 else {
            self = .legacy
            return
        }
        guard let scheme = ASN1_TYPE_unpack_sequence(PBE2PARAM_it(), algorithm.parameter) else {
            self = .legacy
            return
        }
        PBE2PARAM_free(scheme.assumingMemoryBound(to: PBE2PARAM.self))
        self =
            KDFIterations.of(algorithm).map { $0 > KDFIterations.maxIterations ? .tooManyRounds($0) : .supported }
            ?? .supported
    }

    var refusal: String? {
        switch self {
        case .none, .supported: nil
        case .tooManyRounds(let rounds): "PBKDF2 with \(rounds) rounds"
        case .legacy: "an encryption older than PBES2"
        }
    }
}
