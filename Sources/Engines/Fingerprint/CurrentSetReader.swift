// SPDX-License-Identifier: Apache-2.0

internal import EnrolledPrints
internal import KeychainModel

/// Reads the enrolled set by the stored prints, or, where latchkey-biometry-digest is not
/// installed, by the names of the fingers.
struct CurrentSetReader: Sendable {
    let prints: StoredPrints
    let names: FingerNames

    /// - Throws: ``FingerprintError/unknownSet(_:)`` if the helper is installed and fails. The names
    ///   do not replace it then: their digest is another one, so that items that are bound to the
    ///   prints would seem to be lost.
    func currentSet(of user: UInt32) throws(FingerprintError) -> EnrolledSet {
        let set: EnrolledSet?
        do throws(EnrolledSetError) {
            set = try prints.enrolledSet(of: user)
        } catch {
            guard error.isNotInstalled else { throw .unknownSet(error) }
            return try names.enrolledSet(of: user)
        }
        guard let set else { throw .notEnrolled }
        return set
    }
}
