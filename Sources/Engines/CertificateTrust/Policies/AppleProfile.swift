// SPDX-License-Identifier: Apache-2.0

/// The requirements of one of Apple's own policies on a chain in addition to RFC 5280: one of Apple's roots, marker
/// extensions, and properties of the leaf (Apple's SecPolicy source, and the certification practice statements at
/// apple.com/certificateauthority).
///
/// A marker is an extension that shows, by its presence, the purpose of a certificate from Apple.
public struct AppleProfile: Hashable, Sendable {
    /// SHA-256 of the accepted anchors.
    private(set) var anchors = roots
    /// The number of certificates in the chain, including the anchor; nil for any number.
    private(set) var length: Int?
    /// An intermediate must have one of these markers.
    private(set) var intermediateMarkers: [ObjectIdentifier]
    private(set) var leafMarker: ObjectIdentifier
    /// The text in the leaf's marker; nil for any.
    private(set) var leafMarkerText: String?
    /// A certificate policy that the leaf must have.
    private(set) var certificatePolicy: ObjectIdentifier?
    /// An extended key usage that the leaf must have.
    private(set) var usage: ObjectIdentifier?
    /// The organizational unit of the leaf's subject.
    private(set) var organizationalUnit: String?

    var rules: [any ChainRule] { [AppleLeafRule(profile: self), AppleChainRule(profile: self)] }

    /// The same profile with other anchors.
    func anchored(in anchors: Set<[UInt8]>) -> AppleProfile {
        var profile = self
        profile.anchors = anchors
        return profile
    }
}

// MARK: The profiles

extension AppleProfile {
    /// The certificate that signs receipts of the Mac App Store.
    public static let macAppStoreReceipt = AppleProfile(
        length: 3, intermediateMarkers: [worldwideDeveloperRelations], leafMarker: ObjectIdentifier(apple: 6, 11, 1),
        certificatePolicy: ObjectIdentifier(apple: 5, 6, 1))

    /// The certificate of an Apple ID, used for sharing.
    public static let appleID = AppleProfile(
        intermediateMarkers: [ObjectIdentifier(apple: 6, 2, 3), ObjectIdentifier(apple: 6, 2, 7)],
        leafMarker: ObjectIdentifier(apple: 4, 7))

    /// The certificate that signs passes.
    ///
    /// - Parameters:
    ///   - passType: the identifier of the pass type in the leaf's marker; nil for any.
    ///   - team: the identifier of the developer team, in the leaf's organizational unit.
    public static func pass(type passType: String?, team: String) -> AppleProfile {
        AppleProfile(
            length: 3, intermediateMarkers: [worldwideDeveloperRelations],
            leafMarker: ObjectIdentifier(apple: 6, 1, 16),
            leafMarkerText: passType, usage: ObjectIdentifier(apple: 4, 14), organizationalUnit: team)
    }

    /// The marker of the Apple Worldwide Developer Relations CA.
    private static let worldwideDeveloperRelations = ObjectIdentifier(apple: 6, 2, 1)

    /// SHA-256 of Apple Root CA, Apple Root CA - G2 and Apple Root CA - G3, as
    /// apple.com/certificateauthority publishes them.
    public static let roots: Set<[UInt8]> = [
        [
            0xB0, 0xB1, 0x73, 0x0E, 0xCB, 0xC7, 0xFF, 0x45, 0x05, 0x14, 0x2C, 0x49, 0xF1, 0x29, 0x5E, 0x6E,
            0xDA, 0x6B, 0xCA, 0xED, 0x7E, 0x2C, 0x68, 0xC5, 0xBE, 0x91, 0xB5, 0xA1, 0x10, 0x01, 0xF0, 0x24,
        ],
        [
            0xC2, 0xB9, 0xB0, 0x42, 0xDD, 0x57, 0x83, 0x0E, 0x7D, 0x11, 0x7D, 0xAC, 0x55, 0xAC, 0x8A, 0xE1,
            0x94, 0x07, 0xD3, 0x8E, 0x41, 0xD8, 0x8F, 0x32, 0x15, 0xBC, 0x3A, 0x89, 0x04, 0x44, 0xA0, 0x50,
        ],
        [
            0x63, 0x34, 0x3A, 0xBF, 0xB8, 0x9A, 0x6A, 0x03, 0xEB, 0xB5, 0x7E, 0x9B, 0x3F, 0x5F, 0xA7, 0xBE,
            0x7C, 0x4F, 0x5C, 0x75, 0x6F, 0x30, 0x17, 0xB3, 0xA8, 0xC4, 0x88, 0xC3, 0x65, 0x3E, 0x91, 0x79,
        ],
    ]
}

extension ObjectIdentifier {
    /// An object identifier below Apple's security arc, 1.2.840.113635.100.
    fileprivate init(apple arcs: UInt...) { self.init(arcs: [1, 2, 840, 113635, 100] + arcs) }
}
