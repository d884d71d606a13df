// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import Testing

@testable import TransportPolicy

/// Chains that are compared with pins.
@Suite("Pins")
struct PinSetTests {
    private let server: ServerChain

    init() throws { server = try ServerChain.shared() }

    private func set(
        _ requirements: [PinRequirement], expiration: PinSet.Expiration? = nil,
        enforcement: PinSet.Enforcement = .enforced
    ) throws -> PinSet {
        try PinSet(
            DomainRule(DomainName("example.com"), subdomains: .anyLevel), requirements, requiresBackup: false,
            expiration: expiration, enforcement: enforcement)
    }

    private func verdict(_ requirements: [PinRequirement], served: [Certificate]? = nil) throws -> PinVerdict {
        try set(requirements).verdict(of: server.validated(), served: served ?? server.served, at: validTime)
    }

    /// A certificate of the chain, or another key.
    enum Key: String, CaseIterable {
        case leaf, intermediate, root, other
    }

    private func pin(_ key: Key) -> Pin {
        switch key {
        case .leaf: Pin(server.leaf)
        case .intermediate: Pin(server.intermediate)
        case .root: Pin(server.root)
        case .other: .other(1)
        }
    }

    @Test(
        "PIN-7: a pin matches only in its configured place",
        arguments: [
            (PinPlacement.leaf, [Key.leaf]), (.certificateAuthority, [.intermediate, .root]),
            (.anywhere, [.leaf, .intermediate, .root]),
        ])
    func places(_ placement: PinPlacement, _ matching: [Key]) throws {
        for key in Key.allCases {
            let requirement = try PinRequirement(placement, [pin(key), .other(2)])
            #expect(try verdict([requirement]).isAccepted == matching.contains(key), "\(key)")
        }
    }

    @Test("PIN-8: if the leaf and a CA are pinned, both must match")
    func both() throws {
        for leaf in [Key.leaf, .other] {
            for authority in [Key.root, .other] {
                let requirements = [
                    try PinRequirement(.leaf, [pin(leaf)]), try PinRequirement(.certificateAuthority, [pin(authority)]),
                ]
                let expected = leaf == .leaf && authority == .root
                #expect(try verdict(requirements).isAccepted == expected, "\(leaf) \(authority)")
            }
        }
    }

    @Test("PIN-9: certificates that the server adds to its chain do not satisfy a pin")
    func appended() throws {
        let requirement = try PinRequirement(.anywhere, [Pin(server.stranger), .other(1)])
        for served in [server.served + [server.stranger], [server.stranger] + server.served] {
            guard case .refused(let failure) = try verdict([requirement], served: served) else {
                Issue.record("a chain without the pinned key was accepted")
                continue
            }
            #expect(failure.description.contains("outside of the validated chain"), "\(failure)")
        }
    }

    @Test("PIN-9: a chain that is not trusted is not compared with pins")
    func untrusted() throws {
        #expect(ValidatedChain(server.untrusted) == nil)
        #expect(ValidatedChain(server.verdict)?.certificates == [server.leaf, server.intermediate, server.root])
    }

    @Test("PIN-10: a failure names the configured pins, the compared keys and the served ones")
    func failure() throws {
        let requirement = try PinRequirement(.leaf, [.other(1), .other(2)])
        guard case .refused(let failure) = try verdict([requirement]) else {
            Issue.record("a wrong pin was accepted")
            return
        }
        #expect(failure.reason == .mismatch([.leaf]) && failure.configured == [requirement])
        #expect(failure.validated.map(\.pin) == [.leaf, .intermediate, .root].map(pin))
        #expect(failure.served.map(\.pin) == [.leaf, .intermediate].map(pin))
        #expect(failure.served.map(\.isLeaf) == [true, false])
        for text in ["example.com", "the leaf", Pin.other(1).description, pin(.leaf).description] {
            #expect(failure.description.contains(text), "\(failure)")
        }
    }

    @Test("PIN-10: a pin in the wrong place is named in the failure")
    func misplaced() throws {
        for (placement, key) in [(PinPlacement.leaf, Key.root), (.certificateAuthority, .leaf)] {
            guard case .refused(let failure) = try verdict([try PinRequirement(placement, [pin(key)])]) else {
                Issue.record("a pin in the wrong place was accepted")
                continue
            }
            #expect(failure.description.contains("is pinned for"), "\(failure)")
        }
    }

    @Test("PIN-10: a failure names at most sixteen certificates of a served chain")
    func manyServed() throws {
        let requirement = try PinRequirement(.leaf, [.other(1)])
        let served = Array(repeating: server.stranger, count: 5000)
        guard case .refused(let failure) = try verdict([requirement], served: served) else {
            Issue.record("a wrong pin was accepted")
            return
        }
        #expect(failure.served.count == 16)
    }

    @Test("PIN-11: pins apply until they expire; afterwards connections are open or closed, as chosen")
    func expiration() throws {
        for (afterwards, isAccepted) in [(PinSet.Expiration.Afterwards.open, true), (.closed, false)] {
            let expiration = PinSet.Expiration(at: validTime, afterwards: afterwards)
            for key in [Key.leaf, .other] {
                let pins = try set([PinRequirement(.leaf, [pin(key)])], expiration: expiration)
                func verdict(_ time: Double) throws -> PinVerdict {
                    try pins.verdict(of: server.validated(), served: server.served, at: time)
                }
                for time in [validTime - 1, -.infinity, .nan] {
                    #expect(try verdict(time).isAccepted == (key == .leaf), "\(time)")
                }
                for time in [validTime, validTime + 1, .infinity] {
                    #expect(try verdict(time).isAccepted == isAccepted, "\(time)")
                }
                if afterwards == .open { #expect(try verdict(validTime) == .expired) }
            }
        }
    }

    @Test("PIN-12: in report-only mode, a failure is reported and the connection is made")
    func reports() throws {
        let expired = PinSet.Expiration(at: validTime, afterwards: .closed)
        for (expiration, reason) in [(nil, PinFailure.Reason.mismatch([.leaf])), (expired, .expired)] {
            let pins = try set(
                [PinRequirement(.leaf, [.other(1)])], expiration: expiration, enforcement: .reportOnly)
            let verdict = try pins.verdict(of: server.validated(), served: server.served, at: validTime)
            guard case .reported(let failure) = verdict else {
                Issue.record("\(verdict)")
                continue
            }
            #expect(verdict.isAccepted && failure.reason == reason)
        }
    }

    @Test("PIN-13: a backup pin is required unless it is waived, and its absence from the chain is reported")
    func backup() throws {
        let rule = try DomainRule(DomainName("example.com"))
        let single = try PinRequirement(.leaf, [pin(.leaf)])
        let error = #expect(throws: TransportPolicyError.self) { try PinSet(rule, [single]) }
        #expect(error?.description.contains("backup") == true)
        let pair = try PinRequirement(.leaf, [pin(.leaf), .other(1)])
        #expect(throws: TransportPolicyError.self) {
            try PinSet(rule, [pair, PinRequirement(.certificateAuthority, [.other(1)])])
        }
        #expect(try verdict([pair]) == .matched(hasBackup: true))
        #expect(try verdict([single]) == .matched(hasBackup: false))
        let used = try PinRequirement(.certificateAuthority, [pin(.intermediate), pin(.root)])
        #expect(try verdict([used]) == .matched(hasBackup: false))
    }

    @Test("PIN-14: sets of pins that contradict themselves are refused")
    func contradictions() throws {
        let rule = try DomainRule(DomainName("example.com"))
        let pins = try PinRequirement(.leaf, [.other(1), .other(2)])
        #expect(throws: TransportPolicyError.self) { try PinSet(rule, []) }
        #expect(throws: TransportPolicyError.self) { try PinSet(rule, [pins, pins]) }
        #expect(throws: TransportPolicyError.self) { try PinRequirement(.leaf, []) }
        #expect(throws: TransportPolicyError.self) {
            try PinRequirement(.leaf, (0...PinRequirement.maxPins).map { Pin.other(UInt8($0)) })
        }
        for time in [Double.nan, .infinity] {
            #expect(throws: TransportPolicyError.self) {
                try PinSet(rule, [pins], expiration: PinSet.Expiration(at: time, afterwards: .open))
            }
        }
        let set = try PinSet(rule, [pins])
        let other = try PinSet(DomainRule(DomainName("example.com"), subdomains: .anyLevel), [pins])
        #expect(throws: TransportPolicyError.self) { try PinConfiguration([set, other]) }
    }

    @Test("PIN-15: the pins of the longest domain apply, also to other writings of the host")
    func specific() throws {
        let pins = try PinRequirement(.leaf, [.other(1), .other(2)])
        let configuration = try PinConfiguration([
            PinSet(
                DomainRule(
                    DomainName("example.com"), subdomains: .anyLevel, excluding: [DomainName("open.example.com")]),
                [pins]),
            PinSet(DomainRule(DomainName("api.example.com"), subdomains: .oneLevel), [pins]),
            PinSet(DomainRule(DomainName("b.a.api.example.com")), [pins]),
        ])
        let expected = [
            "example.com": "example.com", "www.example.com": "example.com", "api.example.com": "api.example.com",
            "API.example.com.": "api.example.com", "a.api.example.com": "api.example.com",
            "b.a.api.example.com": "b.a.api.example.com", "c.a.api.example.com": "example.com",
            "open.example.com": nil, "x.open.example.com": nil, "example.org": nil,
        ]
        for (host, domain) in expected {
            let set = configuration.set(for: try #require(HostName(host)))
            #expect(set?.rule.domain.description == domain, "\(host)")
        }
    }
}
