// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
internal import SecretMemory

extension WireKeyKind {
    init(_ kind: KeyKind) {
        self.init()
        type = UInt32(kind.type.rawValue)
        // The service rejects sizes that are not supported.
        bits = UInt32(clamping: kind.bits)
    }

    func decode() throws(WireError) -> KeyKind {
        try requireKnown(self)
        guard let type = KeyType(rawValue: Int64(type)) else { throw .malformed("unknown key type \(type)") }
        return KeyKind(type, bits: try number(bits, "the size of a key"))
    }
}

extension WireGenerateKey {
    init(_ generation: KeyGeneration, _ collector: inout SecretCollector) {
        self.init()
        kind = WireKeyKind(generation.kind)
        privateHalf = WireAddition(generation.privateHalf, &collector)
        if let half = generation.publicHalf { publicHalf = WireAddition(half, &collector) }
    }

    func decode(_ table: inout SecretTable) throws(WireError) -> KeyGeneration {
        try requireKnown(self)
        return KeyGeneration(
            try kind.decode(), privateHalf: try privateHalf.decode(&table),
            publicHalf: hasPublicHalf ? try publicHalf.decode(&table) : nil)
    }
}

extension WireGeneratedKey {
    init(_ key: GeneratedKey, _ collector: inout SecretCollector) {
        self.init()
        privateHalf = WireRecord(key.privateHalf, &collector)
        if let half = key.publicHalf { publicHalf = WireRecord(half, &collector) }
        publicKey = Data(key.publicKey)
    }

    func decode(_ table: inout SecretTable) throws(WireError) -> GeneratedKey {
        try requireKnown(self)
        return GeneratedKey(
            privateHalf: try privateHalf.decode(&table),
            publicHalf: hasPublicHalf ? try publicHalf.decode(&table) : nil,
            publicKey: Array(publicKey))
    }
}

extension WirePublicKeyInfo {
    init(_ info: PublicKeyInfo) {
        self.init()
        kind = WireKeyKind(info.kind)
        half = UInt32(info.half.rawValue)
        publicKey = Data(info.publicKey)
    }

    func decode() throws(WireError) -> PublicKeyInfo {
        try requireKnown(self)
        guard let half = KeyHalf(rawValue: Int64(half)) else { throw .malformed("unknown half \(half) of a key pair") }
        return PublicKeyInfo(try kind.decode(), half: half, publicKey: Array(publicKey))
    }
}

extension WireUseKey {
    init(
        _ reference: PersistentReference, _ use: PrivateKeyUse, _ input: SharedSecret,
        _ collector: inout SecretCollector
    ) {
        self.init()
        self.reference = Data(reference.bytes)
        (self.use, hash) = use.wire
        self.input = collector.append(input)
    }

    func decode(_ table: inout SecretTable) throws(WireError) -> Request {
        try requireKnown(self)
        return .useKey(
            try PersistentReference(wire: reference), try PrivateKeyUse(wire: use, hash: hash),
            on: try table.take(input))
    }
}

extension WireKeyOutput {
    init(_ output: KeyOutput, _ collector: inout SecretCollector) {
        self.init()
        self.output = collector.append(output.bytes)
        accessGroup = output.accessGroup.name
        grade = UInt32(output.accessGroup.grade.rawValue)
    }

    func decode(_ table: inout SecretTable) throws(WireError) -> KeyOutput {
        try requireKnown(self)
        return KeyOutput(
            try table.take(output), from: AccessGroup(accessGroup, grade: try AccessGroup.Grade(wire: grade)))
    }
}

// MARK: Codes

extension HashAlgorithm {
    fileprivate var wire: UInt32 { UInt32(Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    fileprivate init(wire number: UInt32) throws(WireError) {
        guard 1...UInt32(Self.allCases.count) ~= number else { throw .malformed("unknown hash \(number)") }
        self = Self.allCases[Int(number) - 1]
    }
}

extension PrivateKeyUse {
    fileprivate var wire: (use: UInt32, hash: UInt32) {
        switch self {
        case .signRaw: (1, 0)
        case .signPKCS1(let hash): (2, hash?.wire ?? 0)
        case .signPSS(let hash): (3, hash.wire)
        case .signECDSA: (4, 0)
        case .decryptRaw: (5, 0)
        case .decryptPKCS1: (6, 0)
        case .decryptOAEP(let hash): (7, hash.wire)
        case .agree: (8, 0)
        case .agreeToDecrypt: (9, 0)
        }
    }

    fileprivate init(wire number: UInt32, hash: UInt32) throws(WireError) {
        switch number {
        case 2: self = .signPKCS1(hash == 0 ? nil : try HashAlgorithm(wire: hash))
        case 3: self = .signPSS(try HashAlgorithm(wire: hash))
        case 7: self = .decryptOAEP(try HashAlgorithm(wire: hash))
        default:
            let plain: [UInt32: PrivateKeyUse] = [
                1: .signRaw, 4: .signECDSA, 5: .decryptRaw, 6: .decryptPKCS1, 8: .agree, 9: .agreeToDecrypt,
            ]
            guard let known = plain[number], hash == 0 else {
                throw .malformed("unknown use \(number) of a key with the hash \(hash)")
            }
            self = known
        }
    }
}
