// SPDX-License-Identifier: Apache-2.0

internal import CFido2

extension SecurityKey {
    /// Returns the security keys that are connected by USB, and that the user of this process may
    /// use.
    ///
    /// Devices are not opened, so that the list may contain keys without FIDO2.
    public static func connected() throws(SecurityKeyError) -> [SecurityKey] {
        try OpenDevice.requireLibrary()
        guard let list = fido_dev_info_new(maxCount) else { throw .outOfMemory }
        defer {
            var freed: OpaquePointer? = list
            fido_dev_info_free(&freed, maxCount)
        }
        var count = 0
        let status = fido_dev_info_manifest(list, maxCount, &count)
        guard status == FIDO_OK else { throw SecurityKeyError(status: status) }
        return (0..<min(count, maxCount)).compactMap { index in
            guard let device = fido_dev_info_ptr(list, index), let path = fido_dev_info_path(device) else { return nil }
            let name = String(cString: path)
            // libfido2 also lists keys on NFC readers.
            guard name.hasPrefix("/dev/") else { return nil }
            return SecurityKey(
                path: name, manufacturer: text(fido_dev_info_manufacturer_string(device)),
                product: text(fido_dev_info_product_string(device)), transport: HIDTransport(path: name))
        }
    }

    /// The maximum number of devices that are listed.
    static let maxCount = 64

    /// Returns a name, limited to 128 characters.
    private static func text(_ string: UnsafePointer<CChar>?) -> String {
        string.map { String(String(cString: $0).prefix(128)) } ?? ""
    }
}
