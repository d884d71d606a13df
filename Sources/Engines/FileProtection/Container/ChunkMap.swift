// SPDX-License-Identifier: Apache-2.0

/// The tree that finds the chunks of a file: each node has references to nodes of the level below, or to
/// chunks.
struct ChunkMap {
    private(set) var root: ChunkReference
    private(set) var depth: UInt8
    private let layout: ContainerLayout
    private let file: [UInt8]
    private var nodes: [Position: Node] = [:]
    private var uses: UInt64 = 0

    private struct Position: Hashable {
        var level: UInt8
        var index: UInt64
    }

    private struct Node {
        var entries: [ChunkReference]
        var isDirty = false
        var lastUse: UInt64 = 0
    }

    /// - Parameter file: its identifier.
    init(_ state: ContainerState, _ layout: ContainerLayout, file: [UInt8]) {
        root = state.root
        depth = state.depth
        self.layout = layout
        self.file = file
    }

    /// Nodes that are kept in memory: 4 MiB.
    private var maxNodes: Int { (4 << 20) / layout.chunkSize }
    private var fanOut: UInt64 { UInt64(layout.fanOut) }

    /// Whether so many nodes have changed that they should be written.
    var needsFlush: Bool { nodes.count > maxNodes && nodes.values.count(where: \.isDirty) > maxNodes / 2 }

    // MARK: Reading

    /// Returns the reference to a chunk; a hole if it is beyond the map.
    mutating func reference(
        to chunk: UInt64, in storage: borrowing SlotStorage
    ) throws(FileProtectionError) -> ChunkReference {
        guard chunk < layout.capacity(ofDepth: depth) else { return .hole }
        guard depth > 0 else { return root }
        let position = Position(level: 1, index: chunk / fanOut)
        try load(position, storage)
        return nodes[position]?.entries[Int(chunk % fanOut)] ?? .hole
    }

    /// Returns the first chunk from `chunk` on that is no hole; nil if there is none. The cost does not
    /// depend on the length of holes.
    mutating func nextReference(
        from chunk: UInt64, in storage: borrowing SlotStorage
    ) throws(FileProtectionError) -> UInt64? {
        try next(from: chunk, root, Position(level: depth, index: 0), storage)
    }

    private mutating func next(
        from chunk: UInt64, _ reference: ChunkReference, _ position: Position, _ storage: borrowing SlotStorage
    ) throws(FileProtectionError) -> UInt64? {
        guard !reference.isHole || hasNode(below: position) else { return nil }
        guard position.level > 0 else { return position.index >= chunk ? position.index : nil }
        try load(position, storage)
        let childSpan = layout.capacity(ofDepth: position.level - 1)
        let first = position.index * fanOut
        let start = chunk / childSpan > first ? chunk / childSpan - first : 0
        guard start < fanOut else { return nil }
        for number in start..<fanOut {
            guard let entry = nodes[position]?.entries[Int(number)] else { return nil }
            let child = Position(level: position.level - 1, index: first + number)
            guard !entry.isHole || hasNode(below: child) else { continue }
            if let found = try next(from: chunk, entry, child, storage) { return found }
            // The search below may have forgotten this node.
            try load(position, storage)
        }
        return nil
    }

    /// Whether a changed node at or below a position is in memory and has no reference to it yet.
    private func hasNode(below position: Position) -> Bool {
        nodes.contains { key, node in
            guard node.isDirty, key.level <= position.level else { return false }
            return key.index / layout.capacity(ofDepth: position.level - key.level) == position.index
        }
    }

    /// Calls `body` with every reference of the tree, to nodes and chunks.
    mutating func forEachReference(
        in storage: borrowing SlotStorage, _ body: (ChunkReference) throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) {
        try visit(root, Position(level: depth, index: 0), storage, body)
    }

    private mutating func visit(
        _ reference: ChunkReference, _ position: Position, _ storage: borrowing SlotStorage,
        _ body: (ChunkReference) throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) {
        if !reference.isHole { try body(reference) }
        guard position.level > 0, !reference.isHole || nodes[position] != nil else { return }
        try load(position, storage)
        guard let entries = nodes[position]?.entries else { return }
        for (number, entry) in entries.enumerated() {
            let child = Position(
                level: position.level - 1, index: position.index * fanOut + UInt64(number))
            guard !entry.isHole || nodes[child] != nil else { continue }
            try visit(entry, child, storage, body)
        }
    }

    /// Ensures that a node is in memory.
    private mutating func load(
        _ position: Position, _ storage: borrowing SlotStorage
    ) throws(FileProtectionError) {
        uses += 1
        if nodes[position] != nil {
            nodes[position]?.lastUse = uses
            return
        }
        let reference = try referenceToNode(position, storage)
        makeRoom(except: position.level + 1)
        nodes[position] = Node(
            entries: try entries(reference, part(position), storage), lastUse: uses)
    }

    private mutating func referenceToNode(
        _ position: Position, _ storage: borrowing SlotStorage
    ) throws(FileProtectionError) -> ChunkReference {
        if position.level == depth { return root }
        let parent = Position(level: position.level + 1, index: position.index / fanOut)
        try load(parent, storage)
        return nodes[parent]?.entries[Int(position.index % fanOut)] ?? .hole
    }

    private func entries(
        _ reference: ChunkReference, _ part: ContainerPart, _ storage: borrowing SlotStorage
    ) throws(FileProtectionError) -> [ChunkReference] {
        guard !reference.isHole else { return [ChunkReference](repeating: .hole, count: layout.fanOut) }
        var bytes = [UInt8](repeating: 0, count: layout.chunkSize)
        var outcome = Result<Void, FileProtectionError>.success(())
        bytes.withUnsafeMutableBytes { buffer in
            do throws(FileProtectionError) { try storage.read(reference, as: part, into: buffer) } catch {
                outcome = .failure(error)
            }
        }
        try outcome.get()
        guard let entries = ChunkReference.decode(bytes) else { throw .damaged("\(part) has an invalid reference") }
        return entries
    }

    private func part(_ position: Position) -> ContainerPart {
        ContainerPart(file: file, kind: .node(level: position.level, index: position.index))
    }

    /// Forgets the node that was not used for the longest time, if there are too many.
    private mutating func makeRoom(except level: UInt8) {
        guard nodes.count >= maxNodes,
            let oldest = nodes.filter({ !$0.value.isDirty && $0.key.level != level && $0.key.level < depth })
                .min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return }
        nodes[oldest.key] = nil
    }

    // MARK: Changing

    /// Replaces the reference to a chunk, and releases the old one. The chunk must be within the depth.
    mutating func set(
        _ chunk: UInt64, to reference: ChunkReference, in storage: inout SlotStorage
    ) throws(FileProtectionError) {
        guard depth > 0 else {
            storage.release(root)
            root = reference
            return
        }
        let position = Position(level: 1, index: chunk / fanOut)
        try load(position, storage)
        let number = Int(chunk % fanOut)
        if let old = nodes[position]?.entries[number] { storage.release(old) }
        nodes[position]?.entries[number] = reference
        nodes[position]?.isDirty = true
    }

    /// Gives the tree the depth for a content, and removes the chunks beyond its end.
    mutating func resize(
        from old: UInt64, to length: UInt64, in storage: inout SlotStorage
    ) throws(FileProtectionError) {
        let count = layout.chunkCount(length)
        if count < layout.chunkCount(old) {
            try prune(Position(level: depth, index: 0), keeping: count, &storage)
        }
        let newDepth = layout.depth(of: length)
        while depth < newDepth { raise() }
        while depth > newDepth { try lower(&storage) }
    }

    private mutating func raise() {
        depth += 1
        var entries = [ChunkReference](repeating: .hole, count: layout.fanOut)
        entries[0] = root
        // A root that was changed is written with the others: its parent's reference follows then.
        nodes[Position(level: depth, index: 0)] = Node(entries: entries, isDirty: true, lastUse: uses)
        root = .hole
    }

    private mutating func lower(_ storage: inout SlotStorage) throws(FileProtectionError) {
        let position = Position(level: depth, index: 0)
        try load(position, storage)
        storage.release(root)
        root = nodes[position]?.entries[0] ?? .hole
        nodes[position] = nil
        depth -= 1
    }

    /// Removes the chunks from number `count` on below a node.
    private mutating func prune(
        _ position: Position, keeping count: UInt64, _ storage: inout SlotStorage
    ) throws(FileProtectionError) {
        let span = layout.capacity(ofDepth: position.level)
        guard count < (position.index + 1) * span else { return }
        guard position.level > 0 else {
            // Only the root of depth 0: a chunk below a node is an entry of it.
            storage.release(root)
            root = .hole
            return
        }
        try load(position, storage)
        let childSpan = span / fanOut
        for number in 0..<layout.fanOut {
            let child = Position(level: position.level - 1, index: position.index * fanOut + UInt64(number))
            guard count < (child.index + 1) * childSpan else { continue }
            guard child.index * childSpan >= count else {
                try prune(child, keeping: count, &storage)
                continue
            }
            try removeEntry(number, of: position, child, &storage)
        }
    }

    private mutating func removeEntry(
        _ number: Int, of position: Position, _ child: Position, _ storage: inout SlotStorage
    ) throws(FileProtectionError) {
        try load(position, storage)
        guard let reference = nodes[position]?.entries[number], !reference.isHole || nodes[child] != nil else { return }
        if child.level > 0 {
            try load(child, storage)
            for grandchild in 0..<layout.fanOut {
                try removeEntry(
                    grandchild, of: child,
                    Position(level: child.level - 1, index: child.index * fanOut + UInt64(grandchild)), &storage)
            }
            nodes[child] = nil
        }
        storage.release(reference)
        try load(position, storage)
        nodes[position]?.entries[number] = .hole
        nodes[position]?.isDirty = true
    }

    /// Writes the changed nodes, the lowest level first.
    mutating func flush(to storage: inout SlotStorage) throws(FileProtectionError) {
        guard depth > 0 else { return }
        for level in 1...depth {
            for position in nodes.keys.filter({ $0.level == level }).sorted(by: { $0.index < $1.index }) {
                guard let node = nodes[position], node.isDirty else { continue }
                let isEmpty = node.entries.allSatisfy(\.isHole)
                let reference = isEmpty ? .hole : try write(node.entries, part(position), &storage)
                try replace(position, by: reference, &storage)
                nodes[position]?.isDirty = false
            }
        }
    }

    private func write(
        _ entries: [ChunkReference], _ part: ContainerPart, _ storage: inout SlotStorage
    ) throws(FileProtectionError) -> ChunkReference {
        var outcome = Result<ChunkReference, FileProtectionError>.failure(.closed)
        ChunkReference.encode(entries).withUnsafeBytes { buffer in
            do throws(FileProtectionError) { outcome = .success(try storage.write(buffer, as: part)) } catch {
                outcome = .failure(error)
            }
        }
        return try outcome.get()
    }

    private mutating func replace(
        _ position: Position, by reference: ChunkReference, _ storage: inout SlotStorage
    ) throws(FileProtectionError) {
        guard position.level < depth else {
            storage.release(root)
            root = reference
            return
        }
        let parent = Position(level: position.level + 1, index: position.index / fanOut)
        try load(parent, storage)
        let number = Int(position.index % fanOut)
        if let old = nodes[parent]?.entries[number] { storage.release(old) }
        nodes[parent]?.entries[number] = reference
        nodes[parent]?.isDirty = true
    }
}
