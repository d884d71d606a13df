// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The encryption of a PKCS #8 key, checked before any derivation, because the file determines the
/// number of iterations.
enum KeyEncryption: Equatable {
    /// It is not an `EncryptedPrivateKeyInfo`.
    case none
    /// PBES2 with a permitted number of iterations.
    case supported
    case tooManyRounds(Int)
    /// A scheme older than PBES2.
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
        case .legacy: "an encryption scheme older than PBES2"
        }
    }
}
