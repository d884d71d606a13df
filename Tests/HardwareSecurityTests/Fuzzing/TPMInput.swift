// SPDX-License-Identifier: Apache-2.0

@testable import HardwareSecurity
@testable import KeyAttestation
import SecretMemory
import Synchronization
@testable import TrustedPlatformModule

/// Input from a TPM, or from a file that claims to come from one: the responses to an operation, stored objects, and
/// the messages of an attestation. The first byte selects the kind. The fuzzer and the test that replays its corpus
/// share it.
enum TPMInput {
    /// The kind of an input, by its first byte.
    enum Kind: UInt8, CaseIterable {
        case properties, createKey, sign, unseal, counter, endorsement
        case object, index, boundDeviceKey
        case identity, request, answer, challenge, statement
    }

    /// Reads the input.
    ///
    /// - Returns: whether the input was accepted, and the fault that was found; nil for none.
    static func read(_ bytes: [UInt8]) -> (isAccepted: Bool, fault: String?) {
        guard let kind = bytes.first.flatMap(Kind.init) else { return (false, nil) }
        let rest = Array(bytes.dropFirst())
        switch kind {
        case .properties, .createKey, .sign, .unseal, .counter, .endorsement: return operation(kind, rest)
        case .object: return form(rest, { try TPMObject(decoding: $0) }, \.encoded)
        case .index: return form(rest, { try NonvolatileIndex(decoding: $0) }, \.encoded)
        case .boundDeviceKey: return form(rest, { try BoundDeviceKey(decoding: $0) }, \.encoded)
        case .identity: return form(rest, { try AttestationIdentity(decoding: $0) }, \.encoded)
        case .request: return form(rest, { try AttestationRequest(decoding: $0) }, \.encoded)
        case .answer: return form(rest, { try AttestationAnswer(decoding: $0) }, \.encoded)
        case .challenge:
            return form(rest, { try AttestationChallenge(decoding: SharedSecret(copying: $0)) }) {
                $0.encoded.withUnsafeBytes { Array($0) }
            }
        case .statement:
            _ = try? PublicArea(decoding: rest)
            return ((try? CertifiedKey(decoding: rest)) != nil, nil)
        }
    }

    /// Each value that is decoded must have one encoding.
    private static func form<Value>(
        _ bytes: [UInt8], _ decode: ([UInt8]) throws -> Value, _ encode: (Value) -> [UInt8]
    ) -> (Bool, String?) {
        guard let value = try? decode(bytes) else { return (false, nil) }
        return (true, encode(value) == bytes ? nil : "\(Value.self) has two encodings")
    }

    // MARK: Responses

    /// Carries out an operation of a TPM that answers with the input. Its form is: the length of an
    /// object, in two bytes, and the object; then flags, a length and as many bytes for each response.
    private static func operation(_ kind: Kind, _ bytes: [UInt8]) -> (Bool, String?) {
        let count = bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        let object = try? TPMObject(decoding: Array(bytes.dropFirst(2).prefix(count)))
        script.set(Array(bytes.dropFirst(2 + count)))
        defer { module.close() }
        let authorization = SharedSecret(copying: [UInt8](repeating: 7, count: 32))
        switch (kind, object) {
        case (.properties, _): return ((try? module.properties()) != nil, nil)
        case (.endorsement, _): return ((try? module.endorsementCertificate()) != nil, nil)
        case (.createKey, _): return refused((try? module.createKey(authorization: authorization)) != nil)
        case (.counter, _): return refused((try? module.createCounter(authorization: authorization)) != nil)
        case (.sign, let key?):
            let digest = [UInt8](repeating: 7, count: 32)
            return refused((try? module.sign(digest, with: key, authorization: authorization)) != nil)
        case (.unseal, let object?):
            return refused((try? module.unseal(object, authorization: authorization)) != nil)
        default: return (false, nil)
        }
    }

    /// These operations use a session, and no recorded response has the codes of the session.
    private static func refused(_ isAccepted: Bool) -> (Bool, String?) {
        (isAccepted, isAccepted ? "the response of no TPM was accepted" : nil)
    }

    private static let script = ScriptedTransport()
    private static let module: TrustedPlatformModule = {
        TrustedPlatformModule.silenceLibrary()
        return TrustedPlatformModule(script)
    }()
}

/// A TPM that sends the responses of a script.
private final class ScriptedTransport: TPMTransport {
    let address = TPMAddress.port(1)
    private let rest = Mutex<ArraySlice<UInt8>>([])

    func set(_ bytes: [UInt8]) { rest.withLock { $0 = bytes[...] } }

    func connect() throws(TPMError) -> any TPMConnection { ScriptedConnection(self) }

    /// The next response; nil at the end.
    fileprivate func next() -> [UInt8]? {
        rest.withLock { rest in
            guard rest.count >= 3 else { return nil }
            let head = Array(rest.prefix(3))
            let count = Int(head[1]) << 8 | Int(head[2])
            let body = Array(rest.dropFirst(3).prefix(count))
            rest = rest.dropFirst(3 + count)
            guard head[0] & 0x80 != 0 else { return body }
            // With a header that is right, and the code of success or one from the body.
            let length = 10 + body.count
            let code = head[0] & 2 == 0 ? [0, 0, 0, 0] : Array((body + [0, 0, 0, 0]).prefix(4))
            return [0x80, 1 + head[0] & 1, 0, 0, UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)] + code + body
        }
    }
}

private final class ScriptedConnection: TPMConnection {
    private let transport: ScriptedTransport

    init(_ transport: ScriptedTransport) { self.transport = transport }

    func send(_ command: UnsafeRawBufferPointer, until deadline: UInt64) throws(TPMError) {}

    func receive(until deadline: UInt64) throws(TPMError) -> [UInt8] {
        guard let response = transport.next() else { throw .lost(transport.address) }
        return response
    }
}
