// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel
internal import LinuxSystem
public import SecretMemory
public import TrustedPlatformModule

/// The root of keychains in a TPM 2.0. Format: Documentation/Formats/keychain-database.md, "Device
/// key in a TPM".
public struct TPMRoot: HardwareRoot {
    private let module: TrustedPlatformModule

    private static let version: UInt8 = 1
    private static let authorizationLength = 32

    public init(_ module: TrustedPlatformModule) { self.module = module }

    public func prepare() { module.prepare() }

    public func describe() throws(KeychainError) -> String {
        let found = try withErrors(as: KeychainError.init) { () throws(TPMError) in try module.properties() }
        return "\(found.manufacturer) \(found.vendor), firmware \(found.firmware), at \(module.address); "
            + "\(found.lockoutCount) of \(found.lockoutLimit) failures that cause a lockout"
    }

    public func seal(_ key: SharedSecret) throws(KeychainError) -> [UInt8] {
        // It only keeps other objects of the TPM from being taken for this one; the file has it.
        let authorization = SharedSecret(.random(count: Self.authorizationLength))
        return try withErrors(as: KeychainError.init) { () throws(TPMError) in
            let object = try module.seal(key, authorization: authorization)
            // EXPOSE: stored beside the object, in a private file.
            return [Self.version] + authorization.withUnsafeBytes { Array($0) } + object.encoded
        }
    }

    public func unseal(_ sealed: [UInt8]) throws(KeychainError) -> SharedSecret {
        guard sealed.first != BoundDeviceKey.version else { return try unseal(try BoundDeviceKey(decoding: sealed)) }
        guard sealed.first == Self.version, sealed.count > 1 + Self.authorizationLength else {
            throw KeychainError(.decode, "the sealed device key is damaged, or of an unsupported version")
        }
        let rest = sealed.dropFirst()
        return try withErrors(as: KeychainError.init) { () throws(TPMError) in
            let object = try TPMObject(decoding: Array(rest.dropFirst(Self.authorizationLength)))
            return try module.unseal(
                object, authorization: SharedSecret(copying: rest.prefix(Self.authorizationLength)))
        }
    }
}

// MARK: Registers

extension TPMRoot {
    public func seal(_ key: SharedSecret, to registers: RegisterBinding) throws(KeychainError) -> [UInt8] {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            let selection = try RegisterSelection(registers.numbers)
            return BoundDeviceKey(
                registers: selection, byRegisters: try module.seal(key, to: selection),
                byCode: try module.seal(key, authorization: registers.authorization)
            ).encoded
        }
    }

    private func unseal(_ sealed: BoundDeviceKey) throws(KeychainError) -> SharedSecret {
        do throws(TPMError) {
            return try module.unseal(sealed.byRegisters, with: sealed.registers)
        } catch .policyFailed {
            throw KeychainError(
                .notAvailable,
                "the machine was started differently: one of the PCRs \(sealed.registers.list) has another value than when the device key was sealed",
                hint: "if that was an update of yours: latchkey root reseal (asks for the code)")
        } catch {
            throw KeychainError(error)
        }
    }

    public func unseal(_ sealed: [UInt8], authorization: SharedSecret) throws(KeychainError) -> SharedSecret {
        guard sealed.first != Self.version else {
            throw .parameter("the device key is not sealed to PCRs, so it has no code")
        }
        let bound = try BoundDeviceKey(decoding: sealed)
        do throws(TPMError) {
            return try module.unseal(bound.byCode, authorization: authorization)
        } catch .wrongAuthorization {
            throw KeychainError(.authFailed, "the code is not that of this device key")
        } catch {
            throw KeychainError(error)
        }
    }

    public func registers(of sealed: [UInt8]) throws(KeychainError) -> Set<UInt8> {
        sealed.first == Self.version ? [] : try BoundDeviceKey(decoding: sealed).registers.numbers
    }
}

// MARK: Secrets and counters in the TPM

extension TPMRoot {
    public func seal(_ secret: SharedSecret, pin: SharedSecret, limit: Int) throws(KeychainError) -> PINSecret {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            let sealed = try module.seal(secret, pin: pin, limit: UInt32(clamping: limit))
            guard let index = HardwareIndex(sealed.index.encoded),
                let secret = PINSecret(index: index, object: sealed.object.encoded)
            else {
                throw .invalidResponse("the sealed object is too long")
            }
            return secret
        }
    }

    public func unseal(_ secret: PINSecret, pin: SharedSecret) throws(KeybagError) -> SharedSecret {
        do throws(TPMError) {
            let limited = LimitedSecret(
                index: try NonvolatileIndex(decoding: secret.index.bytes),
                object: try TPMObject(decoding: secret.object))
            return try module.unseal(limited, pin: pin)
        } catch .wrongAuthorization {
            throw .wrongPasscode
        } catch .noAttemptsLeft {
            throw .passcodeLimitReached
        } catch {
            throw .hardware(KeychainError(error))
        }
    }

    public func createCounter(
        authorization: SharedSecret
    ) throws(KeychainError) -> (index: HardwareIndex, value: UInt64) {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            let counter = try module.createCounter(authorization: authorization)
            guard let index = HardwareIndex(counter.index.encoded) else {
                throw .invalidResponse("the name of the counter has an unexpected length")
            }
            return (index, counter.value)
        }
    }

    public func value(of counter: HardwareIndex, authorization: SharedSecret) throws(KeychainError) -> UInt64 {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            try module.value(of: try NonvolatileIndex(decoding: counter.bytes), authorization: authorization)
        }
    }

    public func increment(_ counter: HardwareIndex, authorization: SharedSecret) throws(KeychainError) -> UInt64 {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            try module.increment(try NonvolatileIndex(decoding: counter.bytes), authorization: authorization)
        }
    }

    public func remove(_ index: HardwareIndex) throws(KeychainError) {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            do throws(TPMError) {
                try module.remove(try NonvolatileIndex(decoding: index.bytes))
            } catch {
                switch error {
                case .noIndex, .foreignIndex: break
                default: throw error
                }
            }
        }
    }
}
