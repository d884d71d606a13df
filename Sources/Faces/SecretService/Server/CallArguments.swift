// SPDX-License-Identifier: Apache-2.0

internal import SecretTransfer
internal import SystemBus

/// The arguments of a call, after the comparison of their types with the table of its interface.
struct CallArguments {
    private var fields: BusFields

    init(_ fields: BusFields) { self.fields = fields }

    mutating func next<Value: BusRepresentable>(_ type: Value.Type = Value.self) throws(BusFailure) -> Value {
        do throws(BusError) {
            return try fields.next(Value.self)
        } catch {
            throw .invalidArguments(error.description)
        }
    }

    mutating func nextValue() throws(BusFailure) -> BusValue {
        do throws(BusError) {
            return try fields.nextValue()
        } catch {
            throw .invalidArguments(error.description)
        }
    }

    /// Reads attributes: `a{ss}`.
    mutating func nextAttributes() throws(BusFailure) -> SecretAttributes {
        guard let attributes = try SecretAttributes(try nextValue()) else {
            throw .invalidArguments("expected attributes")
        }
        return attributes
    }

    /// Reads a secret as a client has sent it: `(oayays)`.
    mutating func nextSecret() throws(BusFailure) -> TransferredSecret {
        guard let secret = TransferredSecret(try nextValue()) else { throw .invalidArguments("expected a secret") }
        return secret
    }
}

extension SecretAttributes {
    /// Reads a value of the type `a{ss}`; nil for one of another type.
    ///
    /// - Throws: `InvalidArgs` or `LimitsExceeded` for attributes that are not valid.
    init?(_ value: BusValue) throws(BusFailure) {
        guard case .dictionary(.string, .string, let entries) = value else { return nil }
        var pairs: [Pair] = []
        for entry in entries {
            guard case .string(let name) = entry.key, case .string(let text) = entry.value else { return nil }
            pairs.append(Pair(name, text))
        }
        let read = pairs
        self = try BusFailure.mapErrors(SecretPath.root) { () throws(SecretStoreError) in
            try SecretAttributes(validating: read)
        }
    }

    var busValue: BusValue {
        .dictionary(
            key: .string, value: .string, pairs.map { BusValue.Entry(.string($0.name), .string($0.value)) })
    }
}
