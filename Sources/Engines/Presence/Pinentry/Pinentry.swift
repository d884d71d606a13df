// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LinuxSystem

/// Asks for a passcode, a password or a PIN, and displays that a fingerprint reader or a security key waits for a
/// touch. The prompting program is one of the pinentry family, and fits the display or the terminal of the caller.
///
/// The program only collects the typed text; the service verifies it.
public struct Pinentry: PresenceMethod {
    public let name = "pinentry"
    public let factors: Set<PresenceFactor> = [
        .passcode, .applicationPassword, .newApplicationPassword, .confirmation, .fingerprint, .securityKey,
        .securityKeyPIN,
    ]

    private let programs: PinentryPrograms

    /// Uses the installed programs.
    public init() { self.init(programs: .installed) }

    init(programs: PinentryPrograms) { self.programs = programs }

    public func unavailability(for user: UInt32, at place: PromptPlace) -> PresenceUnavailability? {
        do throws(PresenceUnavailability) {
            _ = try candidates(for: user, at: place)
            return nil
        } catch {
            return error
        }
    }

    public func ask(_ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation) -> PresenceOutcome {
        let candidates: [PinentryProgram]
        let place: PromptPlace
        do throws(PresenceUnavailability) {
            guard factors.contains(request.factor) else { throw .noMethod(request.factor) }
            (candidates, place) = try self.candidates(for: request.user, at: request.place)
        } catch {
            return .unavailable(error)
        }
        var outcome = PresenceOutcome.cancelled
        // A graphical program may be installed and not work, so another one is tried.
        for program in candidates.prefix(Self.maxPrograms) {
            switch ask(request, at: place, with: program, until: deadline, cancellation) {
            case .success(let answer): return answer
            case .failure(let error): outcome = error.outcome(of: program.path, isForeground: false)
            }
            guard case .unavailable = outcome, BootClock.system.now() < deadline else { return outcome }
        }
        return outcome
    }

    /// Asks with one program.
    ///
    /// - Returns: a failure if the question was not displayed.
    private func ask(
        _ request: PresenceRequest, at place: PromptPlace, with program: PinentryProgram, until deadline: UInt64,
        _ cancellation: Cancellation
    ) -> Result<PresenceOutcome, PinentryError> {
        guard place.hasTerminal else {
            return converse(request, at: place, program, startsSession: true, until: deadline, cancellation)
        }
        do throws(PresenceUnavailability) {
            let terminal = try Self.terminal(of: place, request.user)
            // In the foreground, Ctrl-C must reach the program that prompts as well as this one.
            let outcome = converse(
                request, at: place, program, startsSession: !terminal.isForegroundOfThisProcess, until: deadline,
                cancellation)
            // A program that was ended by force leaves the terminal without echo.
            terminal.restore()
            return outcome
        } catch {
            return .success(.unavailable(error))
        }
    }

    private func converse(
        _ request: PresenceRequest, at place: PromptPlace, _ program: PinentryProgram, startsSession: Bool,
        until deadline: UInt64, _ cancellation: Cancellation
    ) -> Result<PresenceOutcome, PinentryError> {
        let environment = PinentryEnvironment(for: program, at: place, user: request.user)
        do throws(PinentryError) {
            var conversation = try PinentryConversation(
                program, environment: environment, startsSession: startsSession, until: deadline,
                cancellation: cancellation)
            return .success(try conversation.ask(request, at: place))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Where

    /// Returns the programs that can ask the user, and the place without a terminal that cannot be
    /// used.
    private func candidates(for user: UInt32, at place: PromptPlace) throws(PresenceUnavailability) -> (
        [PinentryProgram], PromptPlace
    ) {
        // A process of another user, such as the system daemon, neither runs programs for a person
        // nor uses a terminal that a client names. That is for a process of the person.
        guard user == geteuid() else { throw .otherUser(user) }
        guard place.hasTerminal else { return (try programs.candidates(at: place), place) }
        do throws(PresenceUnavailability) {
            _ = try Self.terminal(of: place, user)
            return (try programs.candidates(at: place), place)
        } catch .unusableTerminal where place.hasDisplay {
            return (try programs.candidates(at: place.withoutTerminal), place.withoutTerminal)
        } catch {
            throw error
        }
    }

    /// Opens the terminal. It must not belong to another user, who could read the typed text.
    private static func terminal(of place: PromptPlace, _ user: UInt32) throws(PresenceUnavailability) -> OpenTerminal {
        guard let path = place[.terminal] else { throw .noPlace(ignored: place.ignored) }
        do throws(SystemError) {
            let terminal = try OpenTerminal(path: path)
            // Root can read every terminal; `su` leaves it that of the user before.
            guard terminal.owner == user || user == 0 else {
                throw SystemError("prompt on", path: path, code: EPERM)
            }
            return terminal
        } catch {
            throw .unusableTerminal(path: path, reason: error.reason)
        }
    }

    /// How many programs are tried for one question.
    private static let maxPrograms = 3
}
