// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

// `NSPinnedDomains`.

extension ATSReader {
    private static let key = "NSPinnedDomains"
    private static let identity = "SPKI-SHA256-BASE64"

    mutating func readPins(_ dictionary: inout ATSDictionary, _ settings: inout AppTransportSecurity) {
        let path = dictionary.path.appending(Self.key)
        let errors = errorCount
        let entries = domains(&dictionary, Self.key)
        if errorCount > errors {
            settings.unreadablePins.everywhere = "\(Self.key) is not a dictionary, or has too many domains"
        }
        var sets: [PinSet] = []
        for (name, value) in entries ?? [] {
            let path = path.appending(name)
            let domain: DomainName
            do throws(TransportPolicyError) { domain = try DomainName(name) } catch {
                report(.error, .wrongDomain, path, error.problem, hint: error.hint)
                settings.unreadablePins.everywhere = error.problem
                continue
            }
            if let set = pinSet(domain, value, path) {
                sets.append(set)
            } else {
                settings.unreadablePins.domains[domain] = "see \(path.text)"
            }
        }
        do throws(TransportPolicyError) { settings.pins = try PinConfiguration(sets) } catch {
            report(.error, .limit, path, error.problem, hint: error.hint)
            settings.unreadablePins.everywhere = error.problem
        }
    }

    /// Returns the pins of a domain. If they have an error, reports it and returns nil.
    private mutating func pinSet(_ domain: DomainName, _ value: PropertyListValue, _ path: ATSPath) -> PinSet? {
        guard let members = value.dictionary else {
            report(.error, .wrongType, path, "expected a dictionary of identities, found \(value.kindText)")
            return nil
        }
        let errors = errorCount
        var dictionary = ATSDictionary(members, path)
        let subdomains: Subdomains = flag(&dictionary, "NSIncludesSubdomains") == true ? .oneLevel : .none
        let requirements = [
            requirement(&dictionary, "NSPinnedLeafIdentities", .leaf),
            requirement(&dictionary, "NSPinnedCAIdentities", .certificateAuthority),
        ].compactMap(\.self)
        // An unknown key may be meant as a requirement.
        reportUnknown(dictionary, .error)
        guard errorCount == errors else { return nil }
        do throws(TransportPolicyError) {
            return try PinSet(DomainRule(of: domain, subdomains), requirements, requiresBackup: false)
        } catch {
            report(
                .error, .wrongValue, path, error.problem, hint: "add NSPinnedLeafIdentities or NSPinnedCAIdentities")
            return nil
        }
    }

    /// Returns the pins of a list of identities; nil if the key is absent or has an error. An error is reported.
    private mutating func requirement(_ dictionary: inout ATSDictionary, _ key: String, _ placement: PinPlacement)
        -> PinRequirement?
    {
        guard let value = dictionary.take(key) else { return nil }
        let path = dictionary.path.appending(key)
        guard let list = value.array else {
            report(.error, .wrongType, path, "expected an array of identities, found \(value.kindText)")
            return nil
        }
        guard list.count <= PinRequirement.maxPins else {
            report(.error, .limit, path, "more than \(PinRequirement.maxPins) identities")
            return nil
        }
        var pins: [Pin] = []
        for (index, member) in list.enumerated() {
            if let pin = pin(member, path.appending("\(index)")) { pins.append(pin) }
        }
        guard pins.count == list.count else { return nil }
        if Set(pins).count < pins.count { report(.warning, .conflict, path, "an identity is listed twice") }
        do throws(TransportPolicyError) { return try PinRequirement(placement, pins) } catch {
            report(.error, .wrongValue, path, error.problem, hint: error.hint)
            return nil
        }
    }

    private mutating func pin(_ value: PropertyListValue, _ path: ATSPath) -> Pin? {
        guard let members = value.dictionary else {
            report(
                .error, .wrongType, path, "expected a dictionary with \(Self.identity), found \(value.kindText)")
            return nil
        }
        var dictionary = ATSDictionary(members, path)
        guard let text = dictionary.take(Self.identity)?.string else {
            report(.error, .wrongValue, path, "expected a string \(Self.identity)")
            return nil
        }
        reportUnknown(dictionary, .error)
        do throws(TransportPolicyError) { return try Pin(text) } catch {
            report(.error, .wrongValue, path, error.problem, hint: error.hint)
            return nil
        }
    }
}
