//! Line charts as SVG: axes with ticks, one line per series, a legend. Files of their own, for documents.

use std::fmt::Write as _;

/// A line with a name.
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Points by ascending x.
    pub points: Vec<(f64, f64)>,
}

/// A chart.
pub struct Chart {
    /// What stands above it.
    pub title: String,
    /// Across.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// What an axis says.
#[derive(Clone, Default)]
pub struct Axis {
    /// What stands beside it.
    pub label: String,
    /// Equal factors are equally far apart.
    pub logarithmic: bool,
    /// The names of whole numbers from 0, where these stand for things rather than amounts.
    pub names: Vec<String>,
}

impl Axis {
    /// Equal differences are equally far apart.
    pub fn linear(label: &str) -> Self {
        Axis { label: label.to_owned(), ..Axis::default() }
    }

    /// Equal factors are equally far apart.
    pub fn logarithmic(label: &str) -> Self {
        Axis { label: label.to_owned(), logarithmic: true, ..Axis::default() }
    }

    /// For things rather than amounts.
    pub fn named(label: &str, names: &[&str]) -> Self {
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        Axis { label: label.to_owned(), logarithmic: false, names }
    }
}

const WIDTH: f64 = 592.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 54.0;

/// Told apart by people who see colours differently, too; dashes help in print.
const STYLES: &[(&str, &str)] =
    &[("#0072b2", ""), ("#d55e00", "6 3"), ("#009e73", "2 3"), ("#cc79a7", "8 3 2 3"), ("#777777", "1 4")];

/// An axis with its range, laid along a stretch of the picture.
struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    ticks: Vec<(f64, String)>,
}

impl Scale {
    fn new(axis: &Axis, values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        // A logarithm has no place for what is not above 0; such points are left out.
        let usable = values.filter(|v| v.is_finite() && (!axis.logarithmic || *v > 0.0));
        let (mut low, mut high) =
            usable.fold((f64::MAX, f64::MIN), |(low, high), v| (v.min(low), v.max(high)));
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        let ticks: Vec<(f64, String)> = if !axis.names.is_empty() {
            (low, high) = (-0.5, axis.names.len() as f64 - 0.5);
            (0u32..).zip(&axis.names).map(|(at, name)| (f64::from(at), name.clone())).collect()
        } else if axis.logarithmic {
            (low, high) = (low.log10().floor(), high.log10().ceil());
            high = high.max(low + 1.0);
            let decades = (low as i32..=high as i32).map(|e| 10f64.powi(e));
            (low, high) = (10f64.powf(low), 10f64.powf(high));
            decades.map(|v| (v, number(v))).collect()
        } else {
            low = low.min(0.0);
            let step = step(high - low);
            high = ((high / step).ceil() * step).max(low + step);
            let count = ((high - low) / step).round() as u32;
            (0..=count).map(|i| low + f64::from(i) * step).map(|v| (v, number(v))).collect()
        };
        Scale { logarithmic: axis.logarithmic, low, high, from, to, ticks }
    }

    fn at(&self, value: f64) -> Option<f64> {
        let part = if self.logarithmic {
            (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        part.is_finite().then_some(self.from + part * (self.to - self.from))
    }
}

/// 1, 2 or 5 times a power of ten: about five steps over a span.
fn step(span: f64) -> f64 {
    if span <= 0.0 || !span.is_finite() {
        return 1.0;
    }
    let power = 10f64.powf((span / 5.0).log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    factors.into_iter().map(|f| f * power).find(|s| span / s <= 6.0).unwrap_or(10.0 * power)
}

/// A number in few characters.
fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size == 0.0 => "0".to_owned(),
        _ if size >= 1e9 => format!("{}G", trimmed(value / 1e9)),
        _ if size >= 1e6 => format!("{}M", trimmed(value / 1e6)),
        _ if size >= 1e4 => format!("{}k", trimmed(value / 1e3)),
        _ => trimmed(value),
    }
}

fn trimmed(value: f64) -> String {
    // Sums of steps end in noise far behind the point.
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Chart {
    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|s| &s.points);
        let x = Scale::new(&self.x, points().map(|p| p.0), LEFT, WIDTH - RIGHT);
        let y = Scale::new(&self.y, points().map(|p| p.1), HEIGHT - BOTTOM, TOP);
        // Long names are turned, and need room below.
        let letters: usize = self.x.names.iter().map(|n| n.chars().count()).sum();
        let turn = letters > 50;
        let height = if turn { HEIGHT + 90.0 } else { HEIGHT };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
        );
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        text(&mut svg, middle, 22.0, "middle", "font-size=\"14\"", &self.title);
        text(&mut svg, middle, height - 12.0, "middle", "", &self.x.label);
        let turned = format!("transform=\"rotate(-90 16 {0})\"", (TOP + HEIGHT - BOTTOM) / 2.0);
        text(&mut svg, 16.0, (TOP + HEIGHT - BOTTOM) / 2.0, "middle", &turned, &self.y.label);
        for (value, label) in &x.ticks {
            if let Some(at) = x.at(*value) {
                line(&mut svg, (at, HEIGHT - BOTTOM), (at, HEIGHT - BOTTOM + 5.0), "#333");
                let below = HEIGHT - BOTTOM + 19.0;
                if turn {
                    let turned = format!("transform=\"rotate(-30 {at:.1} {below})\"");
                    text(&mut svg, at + 4.0, below, "end", &turned, label);
                } else {
                    text(&mut svg, at, below, "middle", "", label);
                }
            }
        }
        for (value, label) in &y.ticks {
            if let Some(at) = y.at(*value) {
                line(&mut svg, (LEFT, at), (WIDTH - RIGHT, at), "#ddd");
                line(&mut svg, (LEFT - 5.0, at), (LEFT, at), "#333");
                text(&mut svg, LEFT - 8.0, at + 4.0, "end", "", label);
            }
        }
        line(&mut svg, (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM), "#333");
        line(&mut svg, (LEFT, TOP), (LEFT, HEIGHT - BOTTOM), "#333");
        for (number, series) in self.series.iter().enumerate() {
            self.draw(&mut svg, number, series, &x, &y);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn draw(&self, svg: &mut String, number: usize, series: &Series, x: &Scale, y: &Scale) {
        let (colour, dashes) = STYLES[number % STYLES.len()];
        let places: Vec<(f64, f64)> =
            series.points.iter().filter_map(|p| Some((x.at(p.0)?, y.at(p.1)?))).collect();
        // Between things there is nothing to follow.
        if self.x.names.is_empty() {
            let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>",
                path.join(" ")
            );
        }
        for (x, y) in places {
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
        let (from, at) = (WIDTH - RIGHT + 12.0, TOP + 8.0 + 20.0 * number as f64);
        let _ = writeln!(
            svg,
            "<line x1=\"{from}\" y1=\"{at}\" x2=\"{}\" y2=\"{at}\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>",
            from + 24.0
        );
        text(svg, from + 30.0, at + 4.0, "start", "", &series.name);
    }
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, more: &str, what: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}>{}</text>",
        escaped(what)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(y: Axis, points: &[(f64, f64)]) -> String {
        let series = vec![Series { name: "a<b".to_owned(), points: points.to_vec() }];
        Chart { title: "t".to_owned(), x: Axis::linear("x"), y, series }.svg()
    }

    #[test]
    fn every_point_is_inside_the_axes() {
        for y in [Axis::linear("y"), Axis::logarithmic("y")] {
            let svg = chart(y, &[(1.0, 0.03), (2.0, 7.0), (1000.0, 123_456.0)]);
            assert_eq!(svg.matches("<circle").count(), 3);
            for circle in svg.lines().filter(|l| l.starts_with("<circle")) {
                let value = |name: &str| -> f64 {
                    let from = circle.find(name).expect("an attribute") + name.len() + 2;
                    circle[from..].split('"').next().expect("a value").parse().expect("a number")
                };
                assert!((LEFT..=WIDTH - RIGHT).contains(&value("cx")), "{circle}");
                assert!((TOP..=HEIGHT - BOTTOM).contains(&value("cy")), "{circle}");
            }
            assert!(svg.contains("a&lt;b") && !svg.contains("a<b"));
        }
    }

    #[test]
    fn no_points_and_one_value_still_make_a_chart() {
        for points in [&[][..], &[(1.0, 0.0)], &[(0.0, 5.0), (0.0, 5.0)], &[(1.0, f64::NAN)]] {
            for y in [Axis::linear("y"), Axis::logarithmic("y")] {
                let svg = chart(y, points);
                assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }

    #[test]
    fn ticks_are_round() {
        let labels = |high: f64| -> Vec<String> {
            let scale = Scale::new(&Axis::linear(""), [0.0, high].into_iter(), 0.0, 1.0);
            scale.ticks.into_iter().map(|t| t.1).collect()
        };
        assert_eq!(labels(0.87), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(5_000_000.0), ["0", "1M", "2M", "3M", "4M", "5M"]);
        assert_eq!(labels(11.0), ["0", "2", "4", "6", "8", "10", "12"]);
    }
}
