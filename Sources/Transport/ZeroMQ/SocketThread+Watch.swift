/// Registration; everything here traps unless it is called on the thread, that is from an actor
/// whose executor it is. After ``stop()`` it has no effect, but that a watched socket is closed.
extension SocketThread {
  /// What is never called.
  private static let never = Registration(kind: .turn(0))

  /// Calls `onReadable` at each turn as long as messages wait. From now on the socket belongs to
  /// this thread, which closes it at ``stop()``.
  ///
  /// The handler receives until there is ``ReceiveResult/nothing``, or stops earlier to let others
  /// have their turn: it is called again. Let it hold its actor weakly.
  @discardableResult
  public func watch(
    _ socket: borrowing Socket, onReadable: @escaping () -> Void
  ) -> Registration {
    checkIsolated()
    precondition(socket.handle.thread == nil, "a socket has one handler")
    guard !loop.hasEnded else {
      socket.handle.close()
      return Self.never
    }
    let token = loop.poller.watch(socket.handle)
    socket.handle.thread = self
    loop.watched[token] = socket.handle
    loop.handlers[token] = onReadable
    return Registration(kind: .poll(token))
  }

  /// Calls `onReadable` at each turn as long as the file descriptor is readable (or at its end).
  /// The caller keeps it open until after ``unwatch(_:)``.
  @discardableResult
  public func watch(
    fileDescriptor: Int32, onReadable: @escaping () -> Void
  ) -> Registration {
    checkIsolated()
    guard !loop.hasEnded else { return Self.never }
    let token = loop.poller.watch(fileDescriptor: fileDescriptor)
    loop.handlers[token] = onReadable
    return Registration(kind: .poll(token))
  }

  /// Calls `handler` once a turn, after the jobs and the readable handlers of the turn before: the
  /// place for group commits and timers.
  /// - Parameter handler: is given ``Monotonic/now()``; returns when it wants to be called at the
  ///   latest even if nothing happens, in nanoseconds of the same clock, or `nil`. Deadlines are
  ///   kept to the millisecond, never early. A deadline that has passed turns the loop into a spin.
  @discardableResult
  public func onTurn(_ handler: @escaping (_ now: UInt64) -> UInt64?) -> Registration {
    checkIsolated()
    guard !loop.hasEnded else { return Self.never }
    loop.lastTurn += 1
    loop.turns.append((loop.lastTurn, handler))
    return Registration(kind: .turn(loop.lastTurn))
  }

  /// Stops and resumes looking whether a watched socket or file descriptor is readable, so that what comes waits.
  public func mute(_ registration: Registration, _ isMuted: Bool) {
    checkIsolated()
    if case .poll(let token) = registration.kind { loop.poller.mute(token, isMuted) }
  }

  /// Forgets a handler; that of a socket that was closed is forgotten already. A socket that is
  /// open stays so, until its value ends.
  public func unwatch(_ registration: Registration) {
    checkIsolated()
    switch registration.kind {
    case .poll(let token):
      loop.forget(token)
    case .turn(let number):
      loop.turns.removeAll { $0.number == number }
    }
  }
}
