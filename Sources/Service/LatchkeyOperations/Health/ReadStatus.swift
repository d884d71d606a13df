// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns the location of the keychain, its protection, and the number of its items.
package struct ReadStatus: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = .worksWithoutLog

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> KeychainStatus {
        var status = try context.service.status()
        status.mode = try context.mode
        status.hasAuditLog = try context.auditLog != nil
        status.daemon = context.daemon
        return status
    }
}

extension KeychainStatus: ResponseContent {}

extension OperationPerformer {
    /// Returns the location of the keychain, its protection, and the number of its items.
    package func status() throws(KeychainError) -> KeychainStatus { try perform(ReadStatus()) }
}

// MARK: Coding

extension ReadStatus {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation { .status(WireNothing()) }
}

extension KeychainStatus {
    init(_ wire: WireKeychainStatus) throws(WireError) {
        try requireKnown(wire)
        guard let mode = Mode(rawValue: wire.mode) else { throw .malformed("unknown mode '\(wire.mode)'") }
        guard let root = Root(rawValue: wire.root) else { throw .malformed("unknown root '\(wire.root)'") }
        var counts: [Count] = []
        for count in wire.counts {
            try requireKnown(count)
            counts.append(
                Count(
                    itemClass: try ItemClass(wire: count.itemClass),
                    protection: try ProtectionClass(wire: count.protection),
                    count: try number(count.count, "a number of items")))
        }
        self.init(
            mode: mode, root: root, databasePath: wire.hasDatabasePath ? wire.databasePath : nil,
            deviceKeyPath: wire.hasDeviceKeyPath ? wire.deviceKeyPath : nil, formatVersion: Int(wire.formatVersion),
            hasPasscode: wire.hasPasscode_p, counts: counts,
            quarantined: try number(wire.quarantined, "a number of rows"))
        hasAuditLog = wire.hasAuditLog_p
        itemsRequiringPasscode = try number(wire.itemsRequiringPasscode, "a number of items")
        itemsWithoutRecovery = try number(wire.itemsWithoutRecovery, "a number of items")
        if wire.hasEnclave {
            guard let kind = EnclaveKind(rawValue: wire.enclave) else {
                throw .malformed("unknown enclave '\(wire.enclave)'")
            }
            enclave = kind
        }
        rootRegisters = try RegisterNumbers.decode(wire.rootRegisters)
        limitsPasscodes = wire.limitsPasscodes
        name = try KeychainName(wire: wire.name)
        daemon = wire.process > 0 ? Daemon(process: wire.process, isOnDemand: wire.isOnDemand) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireKeychainStatus()
        wire.mode = mode.rawValue
        wire.root = root.rawValue
        if let path = databasePath { wire.databasePath = path }
        if let path = deviceKeyPath { wire.deviceKeyPath = path }
        wire.formatVersion = UInt32(formatVersion)
        wire.hasPasscode_p = hasPasscode
        wire.counts = counts.map { count in
            var own = WireKeychainStatus.Count()
            own.itemClass = UInt32(count.itemClass.number)
            own.protection = UInt32(count.protection.number)
            own.count = UInt64(count.count)
            return own
        }
        wire.quarantined = UInt64(quarantined)
        wire.hasAuditLog_p = hasAuditLog
        wire.itemsRequiringPasscode = UInt64(clamping: itemsRequiringPasscode)
        wire.name = name.text
        wire.process = daemon?.process ?? 0
        wire.isOnDemand = daemon?.isOnDemand ?? false
        wire.itemsWithoutRecovery = UInt64(clamping: itemsWithoutRecovery)
        if let enclave { wire.enclave = enclave.rawValue }
        wire.rootRegisters = RegisterNumbers.encode(rootRegisters)
        wire.limitsPasscodes = limitsPasscodes
        return .status(wire)
    }
}
