// SPDX-License-Identifier: Apache-2.0

internal import EnrolledPrints
internal import KeychainModel

/// The enrolled set by the names of the fingers alone (`EnrolledSet.Source.fingerNames`).
struct FingerNames: Sendable {
    let reader: FingerprintReader

    /// - Throws: ``FingerprintError/notEnrolled`` if no finger is enrolled.
    func enrolledSet(of user: UInt32) throws(FingerprintError) -> EnrolledSet {
        let names = try reader.enrolledFingers(of: user)
        do throws(EnrolledSetError) {
            return try EnrolledSet(fingerNames: names)
        } catch {
            throw .unknownSet(error)
        }
    }
}
