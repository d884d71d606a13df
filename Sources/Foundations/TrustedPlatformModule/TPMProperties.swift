// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem

/// The properties that a TPM reports.
public struct TPMProperties: Hashable, Sendable {
    /// The manufacturer's identifier, such as `IFX`, `STM`, `IBM`.
    public let manufacturer: String
    /// The vendor's text, such as `SLB9672`; `SW   TPM` for swtpm.
    public let vendor: String
    /// The version of the firmware.
    public let firmware: String
    /// Wrong authorizations that count towards the lockout.
    public let lockoutCount: UInt32
    /// The number of wrong authorizations that causes the lockout.
    public let lockoutLimit: UInt32

    /// Whether it is a program, as far as it says so.
    public var isSoftware: Bool { vendor.hasPrefix("SW") }
}

extension TrustedPlatformModule {
    /// Reads the properties of the TPM.
    public func properties() throws(TPMError) -> TPMProperties {
        try run { (module) throws(TPMError) in
            let values = try module.library.properties(from: CTSS2_FIRST_FIXED_PROPERTY).merging(
                try module.library.properties(from: CTSS2_FIRST_VARIABLE_PROPERTY)
            ) { $1 }
            // TPM_PT_MANUFACTURER, VENDOR_STRING_1 to 4, FIRMWARE_VERSION_1 and 2.
            let firmware = [values[0x10B] ?? 0, values[0x10C] ?? 0].flatMap { [$0 >> 16, $0 & 0xFFFF] }
            return TPMProperties(
                manufacturer: Self.text([values[0x105]]),
                vendor: Self.text((0x106...0x109).map { values[$0] }),
                firmware: firmware.map { "\($0)" }.joined(separator: "."),
                lockoutCount: values[0x20E] ?? 0, lockoutLimit: values[0x20F] ?? 0)
        }
    }

    /// Four characters in each number; anything but printable ASCII is left out.
    private static func text(_ numbers: [UInt32?]) -> String {
        let bytes = numbers.flatMap { ($0 ?? 0).bigEndianBytes }.filter { 0x20..<0x7F ~= $0 }
        let text = String(decoding: bytes, as: UTF8.self)
        return String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension Library {
    /// The properties of a group, by their numbers.
    ///
    /// - Parameter first: the lowest number.
    fileprivate func properties(from first: UInt32) throws(TPMError) -> [UInt32: UInt32] {
        let none = ESYS_TR(ESYS_TR_NONE)
        var hasMore = TPMI_YES_NO()
        let found: TPMS_CAPABILITY_DATA = try output { data in
            Esys_GetCapability(
                context, none, none, none, TPM2_CAP(TPM2_CAP_TPM_PROPERTIES), first, CTSS2_MAX_PROPERTIES, &hasMore,
                &data)
        }
        guard found.capability == TPM2_CAP(TPM2_CAP_TPM_PROPERTIES) else {
            throw .invalidResponse("the TPM describes other properties than were requested")
        }
        var list = found.data.tpmProperties
        guard list.count <= CTSS2_MAX_PROPERTIES else {
            throw .invalidResponse("a list has \(list.count) elements")
        }
        let count = Int(list.count)
        return withUnsafeBytes(of: &list.tpmProperty) { bytes in
            Dictionary(
                bytes.bindMemory(to: TPMS_TAGGED_PROPERTY.self).prefix(count).map { ($0.property, $0.value) },
                uniquingKeysWith: { first, _ in first })
        }
    }
}
