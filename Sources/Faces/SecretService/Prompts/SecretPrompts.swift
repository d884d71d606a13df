// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SystemBus

/// The questions of a prompt, and the effect of the answers.
struct PromptContent: Sendable {
    /// The questions, one after the other. The first that is not agreed to ends the prompt.
    let steps: [PromptStep]
    /// The number of paths that it keeps until its end.
    var paths = 0
    /// Does the work of the prompt, if the person has agreed.
    let finish: @Sendable (_ isAgreed: Bool) -> PromptResult
}

/// One question of a prompt.
struct PromptStep: Sendable {
    let key: QuestionKey
    /// Asks; the text identifies the window of the program.
    let ask: @Sendable (_ window: String, Cancellation) -> Bool
}

/// The result that a program gets at the end of its prompt.
struct PromptResult: Sendable {
    let isDismissed: Bool
    /// Of the type that the call of the prompt has: `ao` or `o`.
    let value: BusValue
}

/// The prompts of programs: objects that a method returns if it needs the person. Each belongs to the
/// connection that has called the method, and ends with it.
final class SecretPrompts: Sendable {
    private struct Prompt {
        let owner: BusCaller
        let content: PromptContent
        var isShown = false
    }

    private struct State {
        var prompts: [PromptNumber: Prompt] = [:]
        var next: UInt64 = 1
    }

    private let budgets: SenderBudgets
    private let signals: SecretSignals
    private let questions: SharedQuestions
    private let state = SystemMutex(State())

    init(_ budgets: SenderBudgets, _ signals: SecretSignals, _ questions: SharedQuestions) {
        self.budgets = budgets
        self.signals = signals
        self.questions = questions
    }

    /// Creates a prompt. It is shown when its owner calls `Prompt`.
    ///
    /// - Throws: `LimitsExceeded` if the program has too many prompts, or too many paths in them.
    func create(_ content: PromptContent, for owner: BusCaller) throws(BusFailure) -> ObjectPath {
        try budgets.acquire(Self.budget, by: owner)
        do throws(BusFailure) {
            try budgets.acquire(Self.pathBudget, content.paths, by: owner)
        } catch {
            budgets.release(Self.budget, by: owner)
            throw error
        }
        return state.withLock { state in
            let number = PromptNumber(state.next)
            state.next += 1
            state.prompts[number] = Prompt(owner: owner, content: content)
            return number.path
        }
    }

    func exists(_ number: PromptNumber) -> Bool { state.withLock { $0.prompts[number] != nil } }

    /// Shows the prompt. The result is a signal to its owner.
    ///
    /// - Throws: `AccessDenied` if it belongs to another program, or is shown already.
    func show(_ number: PromptNumber, window: String, by sender: BusName) throws(BusFailure) {
        let content = try state.withLock { (state) throws(BusFailure) -> PromptContent in
            guard let prompt = state.prompts[number] else { throw .missingObject(number.path) }
            guard prompt.owner.connection == sender else { throw .notTheOwner }
            guard !prompt.isShown else { throw .alreadyPrompting }
            state.prompts[number]?.isShown = true
            return prompt.content
        }
        ask(ArraySlice(content.steps), number, window)
    }

    /// Asks the questions that are left.
    private func ask(_ steps: ArraySlice<PromptStep>, _ number: PromptNumber, _ window: String) {
        var rest = steps
        guard let step = rest.popFirst() else { return end(number, isAgreed: true) }
        let left = rest
        questions.ask(
            step.key, Self.identifier(number), with: { step.ask(window, $0) },
            completion: { [weak self] isAgreed in
                guard let self else { return }
                if isAgreed { ask(left, number, window) } else { end(number, isAgreed: false) }
            })
        // The prompt may have ended between two questions.
        if !exists(number) { questions.withdraw(Self.identifier(number)) }
    }

    /// Ends the prompt without an answer.
    func dismiss(_ number: PromptNumber, by sender: BusName) throws(BusFailure) {
        let owner = state.withLock { $0.prompts[number]?.owner.connection }
        guard let owner else { throw .missingObject(number.path) }
        guard owner == sender else { throw .notTheOwner }
        questions.withdraw(Self.identifier(number))
        end(number, isAgreed: false)
    }

    /// Ends the prompts of a connection that has ended.
    func endAll(of owner: BusName) {
        let ended = state.withLock { state -> [PromptNumber] in
            let ended = state.prompts.filter { $0.value.owner.connection == owner }.map(\.key)
            for number in ended { state.prompts[number] = nil }
            return ended
        }
        for number in ended { questions.withdraw(Self.identifier(number)) }
    }

    private func end(_ number: PromptNumber, isAgreed: Bool) {
        let prompt = state.withLock { $0.prompts.removeValue(forKey: number) }
        guard let prompt else { return }
        budgets.release(Self.budget, by: prompt.owner)
        budgets.release(Self.pathBudget, prompt.content.paths, by: prompt.owner)
        signals.completed(number, prompt.content.finish(isAgreed), to: prompt.owner.connection)
    }

    /// The numbers of prompts are even; others that wait for a question have odd ones.
    private static func identifier(_ number: PromptNumber) -> UInt64 { number.number &* 2 }

    private static let budget = BudgetItem("prompts", max: 64)
    private static let pathBudget = BudgetItem("paths in prompts", max: 2 * SecretLimits.maxPaths)
}
