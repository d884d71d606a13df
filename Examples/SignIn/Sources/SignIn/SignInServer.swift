// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// The server's half: it knows public keys, and gives each challenge out for one answer.
public actor SignInServer {
    public enum Failure: Error, Equatable {
        case unknownUser, userExists, notAKey
        /// The challenge was not given out, was answered already, or has expired.
        case unknownChallenge
        case wrongSignature
    }

    private var keys: [String: P256.Signing.PublicKey] = [:]
    private var challenges: [Data: (user: String, expires: Date)] = [:]
    private let now: @Sendable () -> Date

    /// How long a challenge waits for its answer, in seconds.
    public static let lifetime: TimeInterval = 60
    /// More unanswered challenges are not kept: the oldest is forgotten.
    public static let maxChallenges = 1024

    public init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// Registers the public key of a user, `04 ‖ X ‖ Y`. An existing one is not replaced.
    public func register(_ user: String, publicKey: Data) throws {
        guard keys[user] == nil else { throw Failure.userExists }
        guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey) else { throw Failure.notAKey }
        keys[user] = key
    }

    /// Returns a new challenge: 32 random bytes.
    public func challenge(for user: String) throws -> Data {
        guard keys[user] != nil else { throw Failure.unknownUser }
        let time = now()
        challenges = challenges.filter { $0.value.expires > time }
        if challenges.count >= Self.maxChallenges {
            let oldest = challenges.min { $0.value.expires < $1.value.expires }
            if let oldest { challenges[oldest.key] = nil }
        }
        let challenge = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        challenges[challenge] = (user, time.addingTimeInterval(Self.lifetime))
        return challenge
    }

    /// Signs the user in. Any signature uses the challenge up.
    ///
    /// - Parameter signature: in DER, of ``SignInMessage``.
    public func signIn(_ user: String, challenge: Data, signature: Data) throws {
        guard let given = challenges.removeValue(forKey: challenge), given.user == user, given.expires > now() else {
            throw Failure.unknownChallenge
        }
        guard let key = keys[user] else { throw Failure.unknownUser }
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature),
            key.isValidSignature(signature, for: SignInMessage(user: user, challenge: challenge).bytes)
        else { throw Failure.wrongSignature }
    }
}

/// The signed message: the purpose, the user and the challenge, so that a signature for one of them is of no use for
/// another.
public struct SignInMessage {
    public let user: String
    public let challenge: Data

    public init(user: String, challenge: Data) { (self.user, self.challenge) = (user, challenge) }

    public var bytes: Data {
        Data("example sign-in v1".utf8) + Data([0]) + Data(SHA256.hash(data: Data(user.utf8))) + challenge
    }
}
