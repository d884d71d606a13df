// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The number of key derivation iterations that an encrypted file requires, read before any
/// derivation.
enum KDFIterations {
    /// The maximum: some seconds of work.
    static let maxIterations = 5_000_000

    /// Returns the iterations of PBES2 with PBKDF2 or of an older scheme, or the cost of scrypt;
    /// nil if there is no number.
    static func of(_ algorithm: X509_ALGOR) -> Int? {
        if OBJ_obj2nid(algorithm.algorithm) == NID_pbes2 {
            guard let found = ASN1_TYPE_unpack_sequence(PBE2PARAM_it(), algorithm.parameter) else { return nil }
            let parameters = found.assumingMemoryBound(to: PBE2PARAM.self)
            defer { PBE2PARAM_free(parameters) }
            return parameters.pointee.keyfunc.flatMap { ofDerivation($0.pointee) }
        }
        guard let found = ASN1_TYPE_unpack_sequence(PBEPARAM_it(), algorithm.parameter) else { return nil }
        let parameters = found.assumingMemoryBound(to: PBEPARAM.self)
        defer { PBEPARAM_free(parameters) }
        return count(parameters.pointee.iter)
    }

    private static func ofDerivation(_ derivation: X509_ALGOR) -> Int? {
        if OBJ_obj2nid(derivation.algorithm) == NID_id_scrypt { return ofScrypt(derivation) }
        guard OBJ_obj2nid(derivation.algorithm) == NID_id_pbkdf2,
            let found = ASN1_TYPE_unpack_sequence(PBKDF2PARAM_it(), derivation.parameter)
        else { return nil }
        let parameters = found.assumingMemoryBound(to: PBKDF2PARAM.self)
        defer { PBKDF2PARAM_free(parameters) }
        return count(parameters.pointee.iter)
    }

    /// Returns N · r · p, because a block of Salsa20 takes about as long as an iteration of PBKDF2.
    /// libcrypto only limits the memory.
    private static func ofScrypt(_ derivation: X509_ALGOR) -> Int? {
        guard let found = ASN1_TYPE_unpack_sequence(SCRYPT_PARAMS_it(), derivation.parameter) else { return nil }
        let parameters = found.assumingMemoryBound(to: SCRYPT_PARAMS.self)
        defer { SCRYPT_PARAMS_free(parameters) }
        let costs = [
            parameters.pointee.costParameter, parameters.pointee.blockSize, parameters.pointee.parallelizationParameter,
        ]
        return costs.map { count($0) }.reduce(1) { product, cost in
            let (result, isTooMuch) = product.multipliedReportingOverflow(by: cost)
            return isTooMuch ? .max : result
        }
    }

    /// Returns the number; the largest integer for a negative number or one that does not fit.
    static func count(_ integer: UnsafePointer<ASN1_INTEGER>?) -> Int {
        guard let integer else { return 1 }
        let rounds = ASN1_INTEGER_get(integer)
        return rounds < 0 ? .max : rounds
    }
}
