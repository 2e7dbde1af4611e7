extension QRCode {
  /// Modules of light around the code, without which readers do not find it.
  private static let border = 4

  /// The code for a terminal, two rows of modules in a line, in black on white whatever the terminal's colours.
  public var terminalText: String {
    let size = modules.count + 2 * Self.border
    func isDark(_ row: Int, _ column: Int) -> Bool {
      let (row, column) = (row - Self.border, column - Self.border)
      return modules.indices.contains(row) && modules.indices.contains(column)
        && modules[row][column]
    }
    return stride(from: 0, to: size, by: 2).map { row in
      let line = (0..<size).map { column in
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      return "\u{1B}[30;107m\(line.joined())\u{1B}[0m"
    }.joined(separator: "\n")
  }
}
