import Foundation

/// A line chart as SVG for embedding in HTML.
struct Chart {
  struct Line {
    var name: String
    var points: [(x: Double, y: Double)]
    /// Whether the points are joined by a line.
    var isJoined = true
  }
  enum Scale { case linear, logarithmic }

  var title: String
  var x: String
  var y: String
  var lines: [Line]
  var xScale = Scale.linear
  var yScale = Scale.linear
  /// A limit on the y axis and its label.
  var limit: (value: Double, name: String)?
  /// Whether points have markers.
  var isMarked = false
  /// Labels at values of the x axis, in place of ticks.
  var xNames: [(at: Double, name: String)] = []

  private static let size = (width: 720.0, height: 300.0)
  private static let margin = (left: 64.0, right: 16.0, top: 12.0, bottom: 44.0)
  /// The maximum number of drawn points: about two for each pixel column.
  private static let mostPoints = 1_400
  static let colors = [
    "#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a", "#bf3989", "#0e7490",
  ]

  var svg: String {
    let (width, height) = Self.size
    var text =
      "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"\(title.html)\">"
    text += axes
    if let limit, yRange.contains(limit.value) {
      let at = position(
        limit.value, yRange, yScale, from: height - Self.margin.bottom, to: Self.margin.top)
      text +=
        "<line class=\"limit\" x1=\"\(Self.margin.left)\" x2=\"\(width - Self.margin.right)\" y1=\"\(at.px)\" y2=\"\(at.px)\"/>"
      text +=
        "<text x=\"\(Self.margin.left + 6)\" y=\"\((at - 4).px)\">\(limit.name.html)</text>"
    }
    for (index, line) in lines.enumerated() {
      let color = Self.colors[index % Self.colors.count]
      if line.isJoined {
        let points = thinned(line.points).map { "\(xPosition($0.x).px),\(yPosition($0.y).px)" }
        text +=
          "<polyline fill=\"none\" stroke=\"\(color)\" stroke-width=\"1.5\" points=\"\(points.joined(separator: " "))\"/>"
      }
      if isMarked {
        for point in thinned(line.points) {
          text +=
            "<circle r=\"3\" fill=\"\(color)\" cx=\"\(xPosition(point.x).px)\" cy=\"\(yPosition(point.y).px)\"/>"
        }
      }
    }
    return text + "</svg>"
  }

  /// The HTML legend: the lines' names in their colours.
  var legend: String {
    guard lines.count > 1 else { return "" }
    return lines.enumerated().map { index, line in
      "<span style=\"color:\(Self.colors[index % Self.colors.count])\">■</span> \(line.name.html)"
    }.joined(separator: " &nbsp; ")
  }

  /// Keeps the highest point of each stretch, so that no peak is lost.
  private func thinned(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
    guard points.count > Self.mostPoints else { return points }
    let stretch = (points.count + Self.mostPoints - 1) / Self.mostPoints
    return stride(from: 0, to: points.count, by: stretch).map { start in
      points[start..<min(start + stretch, points.count)].max { $0.y < $1.y }!
    }
  }

  // MARK: scales

  private var xRange: ClosedRange<Double> {
    let values = lines.flatMap(\.points).map(\.x)
    let range = Self.range(values, xScale)
    // A labelled axis may end between two powers of ten.
    return xNames.isEmpty ? range : range.lowerBound...(max(values.max() ?? 1, 10) * 1.3)
  }
  private var yRange: ClosedRange<Double> {
    Self.range(lines.flatMap(\.points).map(\.y) + [limit?.value].compactMap { $0 }, yScale)
  }

  private static func range(_ values: [Double], _ scale: Scale) -> ClosedRange<Double> {
    switch scale {
    case .linear:
      let most = values.max() ?? 1
      return 0...(most > 0 ? most * 1.05 : 1)
    case .logarithmic:
      let positive = values.filter { $0 > 0 }
      let (least, most) = (positive.min() ?? 0.1, positive.max() ?? 10)
      return pow(10, floor(log10(least)))...pow(10, max(ceil(log10(most)), floor(log10(least)) + 1))
    }
  }

  private func position(
    _ value: Double, _ range: ClosedRange<Double>, _ scale: Scale, from: Double, to: Double
  ) -> Double {
    let part =
      switch scale {
      case .linear: (value - range.lowerBound) / (range.upperBound - range.lowerBound)
      case .logarithmic:
        log(max(value, range.lowerBound) / range.lowerBound)
          / log(range.upperBound / range.lowerBound)
      }
    return from + (to - from) * part
  }

  private func xPosition(_ value: Double) -> Double {
    position(value, xRange, xScale, from: Self.margin.left, to: Self.size.width - Self.margin.right)
  }

  private func yPosition(_ value: Double) -> Double {
    position(
      value, yRange, yScale, from: Self.size.height - Self.margin.bottom, to: Self.margin.top)
  }

  // MARK: axes

  private static func ticks(_ range: ClosedRange<Double>, _ scale: Scale) -> [Double] {
    switch scale {
    case .linear:
      let raw = range.upperBound / 6
      let unit = pow(10, floor(log10(raw)))
      let step = [1, 2, 5, 10].map { $0 * unit }.first { $0 >= raw } ?? unit
      return Array(stride(from: 0, through: range.upperBound, by: step))
    case .logarithmic:
      let (first, last) = (
        Int(log10(range.lowerBound).rounded()), Int(log10(range.upperBound).rounded())
      )
      let steps = last - first > 3 ? [1.0] : [1, 2, 5]
      return (first...last).flatMap { power in steps.map { $0 * pow(10, Double(power)) } }
        .filter { $0 <= range.upperBound }
    }
  }

  private var axes: String {
    let (width, height) = Self.size
    let margin = Self.margin
    var text = ""
    for tick in Self.ticks(yRange, yScale) {
      let at = yPosition(tick)
      text +=
        "<line class=\"grid\" x1=\"\(margin.left)\" x2=\"\(width - margin.right)\" y1=\"\(at.px)\" y2=\"\(at.px)\"/>"
      text +=
        "<text x=\"\(margin.left - 6)\" y=\"\((at + 4).px)\" text-anchor=\"end\">\(tick.short)</text>"
    }
    let names = xNames.isEmpty ? Self.ticks(xRange, xScale).map { ($0, $0.short) } : xNames
    for (tick, name) in names where xRange.contains(tick) {
      let at = xPosition(tick)
      text +=
        "<line class=\"grid\" y1=\"\(margin.top)\" y2=\"\(height - margin.bottom)\" x1=\"\(at.px)\" x2=\"\(at.px)\"/>"
      text +=
        "<text x=\"\(at.px)\" y=\"\(height - margin.bottom + 16)\" text-anchor=\"middle\">\(name.html)</text>"
    }
    let middle = (margin.left + width - margin.right) / 2
    text += "<text x=\"\(middle)\" y=\"\(height - 8)\" text-anchor=\"middle\">\(x.html)</text>"
    let side = (margin.top + height - margin.bottom) / 2
    text +=
      "<text transform=\"translate(14 \(side)) rotate(-90)\" text-anchor=\"middle\">\(y.html)</text>"
    return text
  }
}

extension Double {
  /// The value as an SVG coordinate.
  fileprivate var px: String { String(format: "%.1f", self) }
}

extension String {
  /// The text with HTML's special characters escaped.
  var html: String {
    replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
  }
}
