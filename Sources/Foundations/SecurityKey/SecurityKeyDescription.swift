// SPDX-License-Identifier: Apache-2.0

internal import CFido2

/// The properties that a security key reports (CTAP 2.1, 6.4).
public struct SecurityKeyDescription: Hashable, Sendable {
    /// The identifier of the model: 16 bytes. The device states it without a proof.
    public let aaguid: [UInt8]
    /// Whether the device can derive secrets (`hmac-secret`).
    public let supportsHMACSecret: Bool
    /// Whether a PIN is set.
    public let hasPIN: Bool
    /// Whether the device requires the PIN, or a finger on its own sensor, for every operation
    /// (`alwaysUv`).
    public let alwaysVerifies: Bool
    /// How many wrong PINs the device still accepts; nil without a PIN.
    public let pinRetries: Int?

    /// - Parameter countsRetries: whether the device is asked for ``pinRetries``.
    init(of device: OpenDevice, countsRetries: Bool = true) throws(SecurityKeyError) {
        let object = try LibraryObject(fido_cbor_info_new(), freedBy: fido_cbor_info_free)
        let info = object.pointer
        try device.query { fido_dev_get_cbor_info($0, info) }
        aaguid = Array(
            UnsafeBufferPointer(start: fido_cbor_info_aaguid_ptr(info), count: fido_cbor_info_aaguid_len(info)))
        supportsHMACSecret = Self.extensions(info).contains("hmac-secret")
        alwaysVerifies = Self.options(info).contains { $0 == "alwaysUv" && $1 }
        hasPIN = device.hasPIN
        pinRetries = hasPIN && countsRetries ? device.retries : nil
    }

    private static func extensions(_ info: OpaquePointer) -> [String] {
        let names = UnsafeBufferPointer(
            start: fido_cbor_info_extensions_ptr(info), count: fido_cbor_info_extensions_len(info))
        return names.compactMap { $0.map { String(cString: $0) } }
    }

    private static func options(_ info: OpaquePointer) -> [(String, Bool)] {
        let count = fido_cbor_info_options_len(info)
        let names = UnsafeBufferPointer(start: fido_cbor_info_options_name_ptr(info), count: count)
        let values = UnsafeBufferPointer(start: fido_cbor_info_options_value_ptr(info), count: count)
        return zip(names, values).compactMap { name, value in name.map { (String(cString: $0), value) } }
    }
}
