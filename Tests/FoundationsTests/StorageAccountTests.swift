// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainTesting
import LinuxSystem
import Testing

@Suite("Storage accounts")
struct StorageAccountTests {
    @Test("Places, bytes on their way and the growth of a database share one limit")
    func shared() {
        let account = StorageAccount(maxBytes: 1000, maxItems: 10)
        account.set(bytes: 300, at: "/a/database")
        account.set(bytes: 100, at: "/b/files")
        #expect(account.available == 600)
        do {
            let charge = account.charge()
            #expect(charge.add(500) && !charge.add(101) && charge.add(60) && account.available == 40)
            // Half of the remaining bytes, because other bytes are on their way.
            account.whileChanging("/a/database", measure: { 300 }) { growth in
                #expect(growth == 20 && account.available == 20)
                #expect(!charge.add(21, waits: false) && charge.add(20, waits: false))
            }
        }
        #expect(account.available == 600)
        var size = 300
        account.whileChanging("/a/database", measure: { size }) { growth in
            #expect(growth == 600 && account.available == 0)
            size += 250
        }
        #expect(account.available == 350)
        account.forget(below: "/a")
        #expect(account.available == 900)
    }

    @Test("Backups in transit have a limit of their own, and take nothing from a change of a database")
    func transit() {
        let account = StorageAccount(maxBytes: 1000)
        account.set(bytes: 900, at: "/a")
        let charges = [account.charge(inTransit: true), account.charge(inTransit: true)]
        #expect(charges[0].add(600) && charges[1].add(400) && !charges[0].add(1) && account.available == 100)
        account.whileChanging("/a", measure: { 900 }) { growth in
            #expect(growth == 100)
            // Bytes that the database releases are available for other data.
            let file = account.charge()
            #expect(!file.add(60, waits: false))
            account.releaseGrant(60)
            #expect(file.add(60, waits: false) && !file.add(1, waits: false))
        }
        do {
            let other = account.charge(inTransit: true)
            #expect(!other.add(1))
        }
        withExtendedLifetime(charges) {}
    }

    @Test("Bytes on their way wait for a change of a database, because it may need less than its grant")
    func waiting() {
        let account = StorageAccount(maxBytes: 1000)
        let (begun, going) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let added = SystemMutex<Bool?>(nil)
        BackgroundThread.run {
            account.whileChanging("/a", measure: { 0 }) { _ in
                begun.signal()
                going.awaitSignal()
            }
        }
        begun.awaitSignal()
        BackgroundThread.run {
            let charge = account.charge()
            let isAdded = charge.add(700)
            added.withLock { $0 = isAdded }
        }
        #expect(added.withLock { $0 } == nil)
        going.signal()
        #expect(eventually { added.withLock { $0 } == true })
    }

    @Test("Items are counted at all places but one, and no more at a place that was removed")
    func items() {
        let account = StorageAccount(maxItems: 10)
        for (place, count) in [("/a/1", 3), ("/a/2", 4), ("/b/1", 5)] { account.set(items: count, at: place) }
        #expect(account.items(without: "/a/1") == 9 && account.items(without: "/c") == 12)
        account.forget(below: "/a")
        #expect(account.items(without: "/c") == 5)
    }
}
