// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The rules that an answer of CTAP 2 must obey before libfido2 decodes it.
///
/// libfido2 and libcbor allocate and fill memory for the counts that an answer announces: of the values of an array,
/// and of signatures (CTAP 2.1, 6.2, `numberOfCredentials`). So a few bytes could use all memory. CTAP 2 permits no
/// indefinite lengths (section 8), and every request of ours names one credential.
struct AnswerCheck {
    /// The command that is answered.
    let command: UInt8

    /// Returns the problem of an answer (a status and a map); nil if there is no problem, or if the status is an error.
    func problem(of message: [UInt8]) -> String? {
        guard message.first == 0 else { return nil }
        var reader = CBORReader(message.dropFirst())
        var whole = reader
        guard whole.skip(), let map = reader.head(), map.type == CBORReader.map else { return Self.malformed }
        for _ in 0..<min(map.number, message.count) {
            var key = reader
            guard reader.skip() else { return Self.malformed }
            if let (type, number) = key.head(), type == CBORReader.unsigned {
                if let problem = problem(ofField: number, reader) { return problem }
            }
            guard reader.skip() else { return Self.malformed }
        }
        return nil
    }

    private func problem(ofField key: Int, _ value: CBORReader) -> String? {
        switch (command, key) {
        case (Self.makeCredential, Self.authenticatorData), (Self.getAssertion, Self.authenticatorData):
            var value = value
            // libfido2 rejects another type.
            return value.bytes().flatMap(problem(ofData:))
        case (Self.getAssertion, Self.numberOfCredentials):
            var value = value
            // libfido2 rejects another type.
            guard let (type, count) = value.head(), type == CBORReader.unsigned, count != 1 else { return nil }
            return "it announces \(count) signatures, expected 1"
        default: return nil
        }
    }

    /// Returns the problem of authenticator data (WebAuthn, "Authenticator Data"). The data have 37 bytes, then the new
    /// credential and the results of extensions, if the flags announce them.
    private func problem(ofData data: ArraySlice<UInt8>) -> String? {
        let flags = AnswerFlags(rawValue: data.dropFirst(32).first ?? 0)
        var rest = data.dropFirst(37)
        if flags.contains(.attestedCredential) {
            guard command == Self.makeCredential else { return "it contains another credential" }
            var fields = FieldReader(rest)
            // The identifier of the model, then the length of the credential's.
            guard fields.bytes(16) != nil, let idCount: UInt16 = fields.number(), fields.bytes(Int(idCount)) != nil
            else { return Self.malformed }
            rest = fields.rest
        }
        var reader = CBORReader(rest)
        if flags.contains(.attestedCredential), !reader.skip() { return Self.malformed }
        if flags.contains(.extensions), !reader.skip() { return Self.malformed }
        return nil
    }

    private static let malformed = "it is not well-formed CBOR"
    private static let makeCredential: UInt8 = 1
    private static let getAssertion: UInt8 = 2
    /// Keys of the fields.
    private static let authenticatorData = 2
    private static let numberOfCredentials = 5
}

/// The flags of an answer (WebAuthn, "Authenticator Data").
struct AnswerFlags: OptionSet {
    let rawValue: UInt8

    /// The device has tested that a user is present.
    static let userPresent = AnswerFlags(rawValue: 0x01)
    /// The device has verified the user, by the PIN or otherwise.
    static let userVerified = AnswerFlags(rawValue: 0x04)
    /// The answer contains a new credential.
    static let attestedCredential = AnswerFlags(rawValue: 0x40)
    /// The answer contains results of extensions.
    static let extensions = AnswerFlags(rawValue: 0x80)
}
