// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// An evaluation of an RSA chain of three for callgrind's count of instructions.
enum TrustCall: String, CaseIterable, ExpressibleByArgument {
    case floor, accepted, host, leafSignature, intermediateSignature, description, reasons

    /// Evaluates `count` times, after one evaluation that is not marked.
    func make(_ count: Int) throws {
        let evaluate = try evaluation(of: BenchChain.ofThree(isCurve: false))
        _ = try evaluate()
        for _ in 0..<count {
            guard try markedCall(evaluate) == accepts else { throw BenchmarkFailure("unexpected verdict") }
        }
        print("\(count) calls: \(rawValue)")
    }

    private var accepts: Bool { self == .floor || self == .accepted }

    private func evaluation(of chain: BenchChain) throws -> () throws -> Bool {
        switch self {
        case .floor:
            let floor = try TrustFloor(chain)
            return { floor.isAccepted() }
        case .accepted: return try TrustContender(chain).isAccepted
        case .host: return try TrustContender(chain, host: "example.org").isAccepted
        case .leafSignature: return try TrustContender(chain.withInvalidSignature(at: 0)).isAccepted
        case .intermediateSignature: return try TrustContender(chain.withInvalidSignature(at: 1)).isAccepted
        case .description:
            return try TrustContender(chain.withInvalidSignature(at: 1), reading: .description).isAccepted
        case .reasons: return try TrustContender(chain.withInvalidSignature(at: 1), reading: .reasons).isAccepted
        }
    }

    @inline(never)
    private func markedCall(_ evaluate: () throws -> Bool) throws -> Bool { try evaluate() }
}
