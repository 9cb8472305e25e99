import Glibc

/// Lines over a number, as a picture (SVG 1.1) that a browser or a README shows.
struct LinePlot {
  struct Line {
    let name: String
    /// Its colour is that of others of the same group; others of the group are dashed.
    let group: String
    let points: [(x: Double, y: Double)]
  }

  let title: String
  let xTitle: String
  let yTitle: String
  var lines: [Line] = []

  private static let size = (width: 720.0, height: 420.0)
  private static let frame = (left: 64.0, top: 44.0, right: 170.0, bottom: 52.0)
  private static let colours = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad"]
  private static let dashes = ["", "6 4", "2 3"]

  /// The picture's text.
  var svg: String {
    let right = Self.size.width - Self.frame.right, bottom = Self.size.height - Self.frame.bottom
    let xStep = Self.step(lines.flatMap { $0.points.map(\.x) }.max() ?? 1)
    let yStep = Self.step(lines.flatMap { $0.points.map(\.y) }.max() ?? 1)
    let xEnd = Self.end(lines.flatMap { $0.points.map(\.x) }, xStep)
    let yEnd = Self.end(lines.flatMap { $0.points.map(\.y) }, yStep)
    func x(_ value: Double) -> Double { Self.frame.left + (right - Self.frame.left) * value / xEnd }
    func y(_ value: Double) -> Double { bottom - (bottom - Self.frame.top) * value / yEnd }

    var parts = [
      #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 420" font-family="sans-serif" font-size="13">"#,
      #"<rect width="720" height="420" fill="white"/>"#,
      Self.text(title, Self.size.width / 2 - 50, 24, anchor: "middle", isBold: true),
    ]
    for value in stride(from: 0, through: xEnd, by: xStep) {
      parts.append(Self.rule(x(value), Self.frame.top, x(value), bottom))
      parts.append(Self.text(Self.label(value), x(value), bottom + 18, anchor: "middle"))
    }
    for value in stride(from: 0, through: yEnd, by: yStep) {
      parts.append(Self.rule(Self.frame.left, y(value), right, y(value)))
      parts.append(Self.text(Self.label(value), Self.frame.left - 8, y(value) + 4, anchor: "end"))
    }
    parts.append(Self.text(xTitle, (Self.frame.left + right) / 2, Self.size.height - 12, anchor: "middle"))
    let middle = Self.label((Self.frame.top + bottom) / 2)
    parts.append(
      #"<text x="16" y="\#(middle)" text-anchor="middle" transform="rotate(-90 16 \#(middle))">\#(Self.escaped(yTitle))</text>"#
    )
    for (index, line) in lines.enumerated() {
      let style = self.style(of: index)
      let path = line.points.map { "\(Self.label(x($0.x))),\(Self.label(y($0.y)))" }.joined(separator: " ")
      parts.append(#"<polyline fill="none" stroke-width="2" \#(style) points="\#(path)"/>"#)
      let key = Self.frame.top + 12 + 22 * Double(index)
      parts.append(
        #"<line x1="\#(Self.label(right + 14))" y1="\#(key)" x2="\#(Self.label(right + 44))" y2="\#(key)" stroke-width="2" \#(style)/>"#
      )
      parts.append(Self.text(line.name, right + 50, key + 4, anchor: "start"))
    }
    return parts.joined(separator: "\n") + "\n</svg>\n"
  }

  private func style(of index: Int) -> String {
    var groups: [String] = []
    for line in lines where !groups.contains(line.group) { groups.append(line.group) }
    let colour = Self.colours[(groups.firstIndex(of: lines[index].group) ?? 0) % Self.colours.count]
    let earlier = lines[..<index].count { $0.group == lines[index].group }
    let dash = Self.dashes[min(earlier, Self.dashes.count - 1)]
    return #"stroke="\#(colour)""# + (dash.isEmpty ? "" : #" stroke-dasharray="\#(dash)""#)
  }

  /// A round distance between rules, of which up to eight cover the values.
  private static func step(_ most: Double) -> Double {
    let decade = pow(10, floor(log10(max(most, 1e-9) / 4)))
    return [1, 2, 5, 10].map { $0 * decade }.first { most / $0 <= 8 } ?? decade
  }

  private static func end(_ values: [Double], _ step: Double) -> Double {
    max(step, ((values.max() ?? 0) / step).rounded(.up) * step)
  }

  private static func label(_ value: Double) -> String {
    value == value.rounded() ? "\(Int(value))" : Statistics.text(value, 1)
  }

  private static func rule(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
    #"<line x1="\#(label(x1))" y1="\#(label(y1))" x2="\#(label(x2))" y2="\#(label(y2))" stroke="gainsboro"/>"#
  }

  private static func text(_ text: String, _ x: Double, _ y: Double, anchor: String, isBold: Bool = false) -> String {
    let weight = isBold ? #" font-weight="bold""# : ""
    return #"<text x="\#(label(x))" y="\#(label(y))" text-anchor="\#(anchor)"\#(weight)>\#(escaped(text))</text>"#
  }

  private static func escaped(_ text: String) -> String {
    let entities: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;"]
    return text.map { entities[$0] ?? String($0) }.joined()
  }
}
